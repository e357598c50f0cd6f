import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join, posix } from 'node:path'
import { projectFolder } from '../support/source.ts'
import { anchorsOf, documentationPages, type Link, linksOf, parsePage } from './support/markdown-page.ts'

const pages = await documentationPages()

test.each(pages.map((page) => [page.path, page] as const))(
  'every relative link and anchor of %s resolves',
  async (_, page) => {
    const problems = await Promise.all(linksOf(page).map((link) => problemOf(page.path, link)))
    expect(problems.filter((problem) => problem !== null)).toEqual([])
  },
)

test('links are found in sentences, tables and images, and not in code', () => {
  const page = parsePage(
    'docs/page.md',
    [
      'See [a](a.md) and ![b](images/b.svg "B"), `[c](c.md)`.',
      '| [d](d.md#e) |',
      '<img src="f.svg">',
      '```text',
      '[g](g.md)',
      '```',
      '[h]: h.md',
    ].join('\n'),
  )
  expect(linksOf(page)).toEqual([
    { target: 'a.md', line: 1 },
    { target: 'images/b.svg', line: 1 },
    { target: 'd.md#e', line: 2 },
    { target: 'f.svg', line: 3 },
    { target: 'h.md', line: 7 },
  ])
})

test('anchors are made of headings as forges make them', () => {
  const headings = ['# Weir: a gateway', '## `weir check`', '## See [it](a.md)', '## Twice', '## Twice']
  expect([...anchorsOf(parsePage('docs/page.md', headings.join('\n\n')))]).toEqual([
    'weir-a-gateway',
    'weir-check',
    'see-it',
    'twice',
    'twice-1',
  ])
})

test('a link to a missing page, or to a missing anchor of a page, is a problem', async () => {
  expect(await problemOf('docs/page.md', { target: 'missing.md', line: 3 })).toContain('docs/page.md:3')
  expect(await problemOf('docs/page.md', { target: '../README.md#missing', line: 3 })).toContain('#missing')
  expect(await problemOf('docs/page.md', { target: '../README.md', line: 3 })).toBeNull()
  expect(await problemOf('docs/page.md', { target: 'https://example.com/a', line: 3 })).toBeNull()
})

async function problemOf(from: string, { target, line }: Link): Promise<string | null> {
  if (/^[a-z][a-z0-9+.-]*:/i.test(target)) return null
  const [relative = '', anchor] = target.split('#')
  const path = relative === '' ? from : posix.normalize(posix.join(posix.dirname(from), relative))
  const file = join(projectFolder, path)
  if (path.startsWith('..') || !existsSync(file)) return `${from}:${line}: there is no ${path}`
  if (anchor === undefined || !path.endsWith('.md')) return null
  const anchors = anchorsOf(parsePage(path, await Bun.file(file).text()))
  return anchors.has(anchor) ? null : `${from}:${line}: ${path} has no #${anchor}`
}
