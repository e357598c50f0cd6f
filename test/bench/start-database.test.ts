import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { startApp } from '../support/app.ts'
import { temporaryFolder } from '../unit/storage/support/folder.ts'
import { countStatements } from './counted-statements.ts'

test('a start on an existing database scans no table that grows with the requests', async () => {
  const file = join(temporaryFolder(), 'weir.db')
  await startAndStop(file)
  const statements = await statementsOfStart(file)
  for (const table of ['responses', 'reservations', 'usage'])
    expect(statements).toContainEqual(expect.stringMatching(new RegExp(`from "?${table}"? `, 'i')))
  const scanned = scannedTables(file, statements)
  // Read up to the first row that exists, as the keys of operators are; the last one has one row.
  expect(new Set(scanned)).toEqual(new Set(['api_keys', 'admin_keys', 'usage_rollup']))
})

async function startAndStop(file: string): Promise<void> {
  await using _ = await startApp({ database: file })
}

async function statementsOfStart(file: string): Promise<readonly string[]> {
  using counted = countStatements()
  const counts = await counted.during(() => startAndStop(file))
  return [...counts.keys()]
}

type Step = { readonly detail: string }

/** The tables that SQLite reads from their beginning, row by row or along a whole index, for one of the statements. */
function scannedTables(file: string, statements: readonly string[]): readonly string[] {
  using sqlite = new Database(file)
  const partial = sqlite
    .prepare<{ readonly name: string }, []>(
      "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql LIKE '% WHERE %'",
    )
    .all()
    .map(({ name }) => name)
  const steps = statements
    .filter((text) => /^\s*(select|insert|update|delete|with)\b/i.test(text))
    .flatMap((text) => sqlite.prepare<Step, []>(`EXPLAIN QUERY PLAN ${text}`).all())
  return steps.flatMap(({ detail }) => {
    const [, table, index = ''] = /^SCAN (\w+)(?: USING (?:COVERING )?INDEX (\w+))?/.exec(detail) ?? []
    return table === undefined || table === 'json_each' || partial.includes(index) ? [] : [table]
  })
}
