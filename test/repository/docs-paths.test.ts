import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { projectFolder } from '../support/source.ts'
import { codeSpans, documentationPages } from './support/markdown-page.ts'

const pages = await documentationPages()
const ownPath = /^(?:src|test|drizzle|\.ci)\/[\w./-]*$/

test.each(pages.map((page) => [page.path, page] as const))(
  'every path of the code in %s exists',
  (_, page) => {
    const paths = codeSpans(page).filter((span) => ownPath.test(span))
    expect(paths.filter((path) => !existsSync(join(projectFolder, path)))).toEqual([])
  },
)

test('the page on the architecture names most folders of src', () => {
  const architecture = pages.find(({ path }) => path === 'docs/architecture.md')
  const paths = architecture === undefined ? [] : codeSpans(architecture).filter((span) => ownPath.test(span))
  expect(new Set(paths).size).toBeGreaterThan(40)
})
