import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { projectFolder } from '../support/source.ts'
import { documentationPages, type MarkdownPage, parsePage } from './support/markdown-page.ts'

const maxWidth = 120

const others = ['CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'test/README.md']
const pages = [
  ...(await documentationPages()),
  ...(await Promise.all(others.map(async (path) => parsePage(path, await textOf(path))))),
]

test.each(pages.map((page) => [page.path, page] as const))(
  'the lines of prose and the table cells of %s have at most 120 characters',
  (_, page) => expect(tooWide(page)).toEqual([]),
)

test('a long line of prose and a long cell are found, and a long line of code or a wide table is not', () => {
  const [long, wide] = ['a'.repeat(maxWidth + 1), 'b'.repeat(maxWidth)]
  const lines = [long, wide, `| ${wide} | ${wide} |`, `| a \\| ${wide} | b |`, '```text', long, '```']
  expect(tooWide(parsePage('docs/page.md', lines.join('\n')))).toEqual([
    'docs/page.md:1: 121 characters',
    'docs/page.md:4: 125 characters',
  ])
})

function textOf(path: string): Promise<string> {
  return Bun.file(join(projectFolder, path)).text()
}

/** Returns where a page has a line, or a cell of a table, that is too wide. */
function tooWide({ path, prose }: MarkdownPage): string[] {
  return prose.flatMap((line, index) => {
    const width = Math.max(...partsOf(line).map((part) => part.length))
    return width > maxWidth ? [`${path}:${index + 1}: ${width} characters`] : []
  })
}

/** The cells of a row of a table; the line itself otherwise. A rule is as wide as its widest cell. */
function partsOf(line: string): readonly string[] {
  return line.startsWith('|') ? line.split(/(?<!\\)\|/).map((cell) => cell.trim()) : [line]
}
