import { expect, onTestFinished, test } from 'bun:test'
import { rangesOf } from '../../../src/storage/usage/reports.ts'
import type { ReportSlice } from '../../../src/storage/usage/slices.ts'
import type { UsageDimension } from '../../../src/storage/ports/usage.ts'
import { type SliceRow, toSlice } from '../../../src/storage/postgres/usage-source.ts'
import { slicesStatement } from '../../../src/storage/postgres/slices-statement.ts'
import { readUsage } from '../../../src/storage/sqlite/usage-source.ts'
import { openTestDatabase } from '../../support/postgres/open-database.ts'
import { execute, hasPostgres, sharedPostgres } from '../../support/postgres/server.ts'
import { plansOf } from '../../support/query-plans.ts'
import { testDatabase } from './support/folder.ts'

const day = 86_400_000
const organizations = 500
/** The totals of two days, of which the second one is not over; each organization has two keys. */
const [from, to] = [100 * day, 102 * day]
const totals = `FROM (SELECT i / 2 AS org, i FROM n) rows CROSS JOIN (SELECT ${from} AS start UNION ALL SELECT ${to - day}) days`
const numbers = (count: number) =>
  `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${count - 1})`

/** What a store is filled with. `times` is SQL for the columns of the times. */
function fill(columns: string, times: string): readonly string[] {
  const sums = Array.from({ length: 11 }, () => 'i').join()
  return [
    `${numbers(organizations)} INSERT INTO organizations (id, name, created_at) SELECT 'org_' || i, 'org ' || i, 1 FROM n`,
    `${numbers(2 * organizations)} INSERT INTO usage_totals (${columns})
      SELECT 'org_' || org, 'day', start, 'key' || i, 'chat', 'm' || (i % 3), 'acme', ${sums}, i, ${times} ${totals}`,
    // No sums yet, as after an upgrade.
    `UPDATE usage_rollup SET until = ${to - 1}, summed_from = ${to}`,
  ]
}

const keyColumns = 'organization_id, width, start, key_id, api, model, provider'
const sumColumns =
  'requests, failed, client_errors, server_errors, prompt_tokens, completion_tokens, cached_tokens, ' +
  'cache_write_tokens, reasoning_tokens, priced, unpriced, cost'
const ranges = rangesOf({ from, to, width: '1d', groupBy: [] })
const rowsPerDay = 2 * organizations
const requestsPerDay = (rowsPerDay * (rowsPerDay - 1)) / 2

function expectComplete(slices: readonly ReportSlice[]): void {
  const ofDay = (start: number) => slices.filter((slice) => slice.start === start)
  const requests = (start: number) => ofDay(start).reduce((sum, slice) => sum + (slice.requests ?? 0), 0)
  expect([requests(from), requests(to - day)]).toEqual([requestsPerDay, requestsPerDay])
}

test('a report about all organizations reads SQLite in few batches, each grouped by its statement', () => {
  const database = testDatabase()
  for (const text of fill(`${keyColumns}, ${sumColumns}, latencies, first_tokens`, "'[90,1]', '[]'"))
    database.sqlite.run(text)
  const read = (by: readonly UsageDimension[]) => {
    const reading = { ranges, widthMs: day, sums: 'all', by: new Set(by) } as const
    return [...readUsage(database, reading)]
  }
  const all = read([])
  // Three of each day, of which those of the second one are passed on later, and one of the rows without totals.
  expect(all.length).toBeLessThanOrEqual(10)
  expect(all.flat()).toHaveLength(6)
  expectComplete(all.flat())
  expect(all[0]?.[0]?.latencies).toBe('[90,1]'.repeat(400))
  const byModel = read(['model']).flat()
  expect(byModel).toHaveLength(18)
  expectComplete(byModel)
  // An organization with more totals than a batch is read page by page.
  database.sqlite.run(
    `${numbers(3000)} INSERT INTO usage_totals (${keyColumns}, ${sumColumns}, latencies, first_tokens) SELECT 'org_7', 'day', ${from}, 'many' || i, 'chat', 'm', 'acme',
      0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, '[]', '[]' FROM n`,
  )
  const pages = read([])
  expectComplete(pages.flat())
  database.sqlite.run("UPDATE usage_totals SET in_project = -1 WHERE key_id IN ('many1500', 'key9')")
  const byProject = read(['project']).flat()
  const requests = byProject.reduce((sum, slice) => sum + (slice.requests ?? 0), 0)
  // The rows of key9 would be read instead.
  expect(requests).toBe(2 * requestsPerDay - 2 * 9)
  expect(Math.max(...pages.map((page) => page.length))).toBeLessThanOrEqual(1000)

  const plans = plansOf(database, (probed) => [
    ...readUsage(probed, { ranges, widthMs: day, sums: 'all', by: new Set() }),
  ])
  const ofTotals = [...plans]
    .filter(([text]) => text.includes('CROSS JOIN usage_totals t'))
    .map(([, plan]) => plan)
  expect(ofTotals).toHaveLength(2)
  const seek = 'SEARCH t USING PRIMARY KEY (organization_id=? AND width=? AND start>? AND start<?)'
  for (const plan of ofTotals) expect(plan).toContain(seek)
})

test('a report about all organizations by user reads SQLite in few batches, however few users each has', () => {
  const database = testDatabase()
  const columns = `${keyColumns}, level, value, ${sumColumns}, latencies, first_tokens`
  const values = `'day', ${from}, '', '', '', '', 'user', 'user' || (i % 7), 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 10, '[90,1]', '[]'`
  for (const text of fill(`${keyColumns}, ${sumColumns}, latencies, first_tokens`, "'[90,1]', '[]'"))
    database.sqlite.run(text)
  database.sqlite.run(
    `${numbers(organizations)} INSERT INTO usage_names (${columns}) SELECT 'org_' || i, ${values} FROM n`,
  )
  const users = [...'0123456'].map((digit) => `user${digit}`)
  const read = (filters: { readonly users?: readonly string[] }, until: number) => {
    // As after an upgrade: of all together, there are no sums of users yet.
    database.sqlite.run(`UPDATE usage_rollup SET until = ${until}, named_from = 0, all_named_from = ${to}`)
    return [...readUsage(database, { ranges, widthMs: day, sums: 'all', by: new Set(['user']), ...filters })]
  }
  // The day is over, and is not over yet.
  for (const until of [to, from + 1]) {
    const all = read({}, until)
    // One for 200 organizations, and those of the rows without totals.
    expect(all.length).toBeLessThanOrEqual(8)
    const slices = all.flat()
    expect(slices.reduce((sum, { requests = 0 }) => sum + requests, 0)).toBe(organizations)
    expect(new Set(slices.map(({ user }) => user))).toEqual(new Set(users))
    expect(slices.length).toBeLessThanOrEqual(3 * users.length)
    const one = read({ users: ['user3'] }, until).flat()
    expect(one.map(({ user }) => user)).toEqual(one.map(() => 'user3'))
    expect(one.reduce((sum, { requests = 0 }) => sum + requests, 0)).toBe(71)
  }
})

test.skipIf(!hasPostgres)(
  'a report about all organizations reads PostgreSQL by time, and receives a row for each group',
  async () => {
    const server = await sharedPostgres()
    const url = await server.createDatabase()
    onTestFinished(() => server.dropDatabase(url))
    await (await openTestDatabase(url)).close()
    const times = 'latency_times, latency_counts, first_token_times, first_token_counts'
    const columns = `${keyColumns}, ${sumColumns}, ${times}`
    for (const text of fill(columns, "'{90}'::int[], '{1}'::int[], '{}'::int[], '{}'::int[]"))
      await execute(url, text)
    await execute(url, 'UPDATE usage_rollup SET fence = until')
    const report = (by: readonly UsageDimension[]) =>
      slicesStatement({ ranges, by: new Set(by), sums: 'all', widthMs: day })
    const { text, values } = report([])
    const rows = await execute<SliceRow>(url, text, values)
    expect(rows).toHaveLength(2)
    const slices = rows.map(toSlice)
    expectComplete(slices.map((slice) => ({ ...slice, start: Number(slice.start) })))
    // One of the rows has one request, which needs no number.
    const pairs = slices[0]?.latencies?.replaceAll('}{', '} {').split(' ')
    expect(pairs?.toSorted()).toEqual([
      ...Array.from({ length: rowsPerDay - 1 }, () => '{1}'),
      ...Array.from({ length: rowsPerDay }, () => '{90}'),
      '{}',
    ])
    expect(slices[0]?.firstTokens).toBe('{}{}'.repeat(rowsPerDay))
    const byModel = report(['model'])
    expect(await execute(url, byModel.text, byModel.values)).toHaveLength(6)
    // Whether the server uses it depends on the number of rows.
    const indexed = await execute<{ readonly indexdef: string }>(
      url,
      "SELECT indexdef FROM pg_indexes WHERE indexname = 'usage_totals_by_start'",
    )
    expect(indexed.map(({ indexdef }) => indexdef)).toEqual([expect.stringContaining('(width, start)')])
  },
)
