import { expect, onTestFinished, test } from 'bun:test'
import { rangesOf, type UsageReading } from '../../../src/storage/usage/reports.ts'
import type { ReportSlice } from '../../../src/storage/usage/slices.ts'
import type { Query } from '../../../src/storage/postgres/connection/connections.ts'
import { sampleStatement } from '../../../src/storage/postgres/sample-statement.ts'
import { type SliceRow, toSlice } from '../../../src/storage/postgres/usage-source.ts'
import { slicesStatement } from '../../../src/storage/postgres/slices-statement.ts'
import type { Statement } from '../../../src/storage/postgres/writer/statement.ts'
import type { Database } from '../../../src/storage/sqlite/connection/database.ts'
import { readUsage } from '../../../src/storage/sqlite/usage-source.ts'
import { openTestDatabase } from '../../support/postgres/open-database.ts'
import { hasPostgres, sharedPostgres } from '../../support/postgres/server.ts'
import { plansOf } from '../../support/query-plans.ts'
import { countRows } from './support/count-rows.ts'
import { testDatabase } from './support/folder.ts'

const day = 86_400_000
const [from, to] = [100 * day, 102 * day]
const users = 11_000
const organizations = 2

/** The sums of users of a day, of each organization and of all together; and the organizations. */
function fill(columns: string, times: string): readonly string[] {
  const sums = (rows: string, level: string, organization: string, requests: number) =>
    `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows} - 1)
      INSERT INTO usage_names (organization_id, level, value, width, start, key_id, api, model, provider, requests, failed,
        client_errors, server_errors, prompt_tokens, completion_tokens, cached_tokens, cache_write_tokens, reasoning_tokens,
        priced, unpriced, cost, ${columns})
      SELECT ${organization}, '${level}', 'user' || (i % ${users}), 'day', ${from}, '', '', '', '', ${requests},
        0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 10, ${times} FROM n`
  return [
    ...Array.from(
      { length: organizations },
      (_, index) =>
        `INSERT INTO organizations (id, name, created_at) VALUES ('org_${index}', 'org ${index}', 1)`,
    ),
    sums(`${users * organizations}`, 'user', `'org_' || (i / ${users})`, 1),
    sums(`${users}`, 'all_users', "''", organizations),
  ]
}

const named = ['user7', 'user700', 'user700', 'nobody']
const reading = (filters: Partial<UsageReading>): UsageReading => ({
  ranges: rangesOf({ from, to, width: '1d', groupBy: [], users: named }),
  widthMs: day,
  sums: 'all',
  by: new Set(),
  users: named,
  ...filters,
})
const requestsOf = (slices: readonly ReportSlice[]) => slices.map(({ requests }) => requests)
const byBoth = new Set(['organization', 'user'])

test('one user is found in SQLite by its name, however many others there are', () => {
  const database = testDatabase()
  for (const text of fill('latencies, first_tokens', "'[90,1]', '[]'")) database.sqlite.run(text)
  const read = (probed: Database, filters: Partial<UsageReading>) => [...readUsage(probed, reading(filters))]
  // The day is over, and is not over yet.
  for (const until of [to, from + 1]) {
    database.sqlite.run(`UPDATE usage_rollup SET until = ${until}`)
    const requests = (filters: Partial<UsageReading>) => requestsOf(read(database, filters).flat())
    expect(requests({})).toEqual([organizations, organizations])
    expect(requests({ organizations: ['org_1'] })).toEqual([1, 1])
    expect(requests({ by: byBoth })).toEqual(Array.from({ length: 2 * organizations }, () => 1))
    // As after an upgrade: of all together, there are none yet.
    database.sqlite.run(`UPDATE usage_rollup SET all_named_from = ${to}`)
    expect(requests({}).reduce((sum = 0, count = 0) => sum + count, 0)).toBe(2 * organizations)
    database.sqlite.run('UPDATE usage_rollup SET all_named_from = 0')
  }
  for (const filters of [{}, { organizations: ['org_1'] }]) {
    const plans = [...plansOf(database, (probed) => read(probed, filters)).values()]
    const place =
      'organization_id=? AND level=? AND width=? AND start=? AND key_id=? AND api=? AND model=? AND provider=? AND value=?'
    expect(plans.filter((plan) => plan.includes('level=?'))).toEqual([
      expect.stringContaining(`SEARCH t USING PRIMARY KEY (${place})`),
    ])
  }
})

/** A PostgreSQL with these sums, until the end of the test. */
async function filledPostgres() {
  const server = await sharedPostgres()
  const url = await server.createDatabase()
  const database = await openTestDatabase(url)
  onTestFinished(async () => {
    await database.close()
    await server.dropDatabase(url)
  })
  const times = 'latency_times, latency_counts, first_token_times, first_token_counts'
  for (const text of fill(times, "'{90}'::int[], '{1}'::int[], '{}'::int[], '{}'::int[]"))
    await database.query(text)
  await database.query(`UPDATE usage_rollup SET until = ${to}, fence = ${to}, named_from = 0`)
  await database.query('ANALYZE')
  return database
}

test.skipIf(!hasPostgres)(
  'one user is found in PostgreSQL by its name, however many others there are',
  async () => {
    const database = await filledPostgres()
    const read = async (filters: Partial<UsageReading>) => {
      const { text, values } = slicesStatement(reading(filters))
      const { counting, read } = countRows(database.query)
      const rows = await counting<SliceRow>(text, values)
      return { requests: requestsOf(rows.map(toSlice)), read: read() }
    }
    const ofEach = await read({ by: byBoth })
    expect(ofEach.requests).toEqual(Array.from({ length: 2 * organizations }, () => 1))
    // As after an upgrade: of all together, there are none yet.
    expect((await read({})).requests).toEqual([2 * organizations])
    await database.query('UPDATE usage_rollup SET all_named_from = 0')
    const ofAll = await read({})
    expect(ofAll.requests).toEqual([2 * organizations])
    expect(ofAll.read).toBeLessThan(100)
    const ofOne = await read({ organizations: ['org_1'] })
    expect(ofOne.requests).toEqual([2])
    expect(ofOne.read).toBeLessThan(100)
  },
)

test.skipIf(!hasPostgres)('PostgreSQL passes on sums that are slices as it reads them', async () => {
  const database = await filledPostgres()
  const addedUp = async (by: readonly string[]) => {
    const statement = slicesStatement(reading({ users: undefined, by: new Set(by) }))
    return await tablesBelow(database.query, statement, 'Aggregate')
  }
  expect(await addedUp(['organization', 'user'])).not.toContain('usage_names')
  // Where there are no sums of all together, those of each organization are added up.
  expect(await addedUp(['user'])).toContain('usage_names')
})

test.skipIf(!hasPostgres)('PostgreSQL takes a sample of sums in the order of an index', async () => {
  const database = await filledPostgres()
  await database.query('UPDATE usage_rollup SET all_named_from = 0')
  const statement = sampleStatement(reading({ users: undefined, by: new Set(['user']) }), ['user'], 1000)
  if (statement === undefined) throw new Error('There is no sample.')
  expect(await database.query(statement.text, statement.values)).toEqual([{ groups: 1001 }])
  expect(await tablesBelow(database.query, statement, 'Sort')).not.toContain('usage_names')
})

type PlanNode = {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly Plans?: readonly PlanNode[]
}

/** The tables whose rows go through a node of this type in the plan of a statement. */
async function tablesBelow(query: Query, { text, values }: Statement, type: string): Promise<string[]> {
  const explained = await query<{ readonly 'QUERY PLAN': readonly { readonly Plan: PlanNode }[] }>(
    `EXPLAIN (FORMAT JSON) ${text}`,
    values,
  )
  const below = (node: PlanNode, isBelow: boolean): string[] => {
    const { 'Node Type': own, 'Relation Name': table, Plans = [] } = node
    return [
      ...(isBelow && table ? [table] : []),
      ...Plans.flatMap((plan) => below(plan, isBelow || own === type)),
    ]
  }
  return explained.flatMap((row) => row['QUERY PLAN']).flatMap(({ Plan }) => below(Plan, false))
}
