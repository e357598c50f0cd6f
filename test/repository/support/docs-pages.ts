import { describe, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { hasPostgres } from '../../support/postgres/server.ts'
import { needsPostgres, runnableBlocks, runPage } from './docs-runner.ts'
import { documentationPages } from './markdown-page.ts'

export const hasShell = Bun.which('bash') !== null && Bun.which('curl') !== null

/** The slow pages, by the test file that runs them, so that several processes share the work. */
const pagesOf = {
  'docs-commands-replicas.test.ts': ['docs/replicas.md'],
  'docs-commands-start.test.ts': ['docs/getting-started.md', 'docs/embeddings.md'],
  'docs-commands-operations.test.ts': [
    'docs/operations.md',
    'docs/monitoring.md',
    'docs/migrating-from-litellm.md',
  ],
  'docs-commands-data.test.ts': ['docs/billing.md', 'docs/stored-data.md', 'docs/usage-api.md'],
}

const pageTimeoutMs = 180_000
const runnable = (await documentationPages()).filter((page) => runnableBlocks(page).length > 0)

/** Defines the tests of the pages that belong to this file; without one, of those that belong to none. */
export function testPages(file?: keyof typeof pagesOf): void {
  for (const path of Object.values(pagesOf).flat())
    if (!runnable.some((page) => page.path === path)) throw new Error(`${path} has no commands to run.`)
  for (const name of Object.keys(pagesOf))
    if (!existsSync(join(import.meta.dir, '..', name))) throw new Error(`${name} is missing.`)
  const isHere = (path: string) =>
    file === undefined ? !Object.values(pagesOf).flat().includes(path) : pagesOf[file].includes(path)
  const pages = runnable.filter(({ path }) => isHere(path)).map((page) => [page.path, page] as const)

  describe.skipIf(!hasShell)('the commands of a page work in an empty folder', () => {
    test.each(pages.filter(([, page]) => !needsPostgres(page)))(
      '%s',
      (_, page) => runPage(page),
      pageTimeoutMs,
    )
  })

  describe.skipIf(!hasShell || !hasPostgres)(
    'with PostgreSQL, the commands of a page work in an empty folder',
    () => {
      test.each(pages.filter(([, page]) => needsPostgres(page)))(
        '%s',
        (_, page) => runPage(page),
        pageTimeoutMs,
      )
    },
  )
}
