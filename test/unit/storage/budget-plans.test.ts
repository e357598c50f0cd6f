import { expect, onTestFinished, test } from 'bun:test'
import { timeSortedId } from '../../../src/lib/id.ts'
import { budgetOf } from './support/budget-fixture.ts'
import { reserveStatement, toReserveJob } from '../../../src/storage/postgres/reservations.ts'
import { settleStatement, toUsageRow } from '../../../src/storage/postgres/settlement.ts'
import type { Statement } from '../../../src/storage/postgres/writer/statement.ts'
import { toWriteRows } from '../../../src/storage/postgres/writes.ts'
import { createMintedKeys } from '../../../src/storage/scripts/minted-keys.ts'
import { createScriptRunner } from '../../../src/storage/sqlite/run-script.ts'
import { createMigratedDatabase } from '../../support/postgres/migrated-database.ts'
import { execute, hasPostgres, sharedPostgres } from '../../support/postgres/server.ts'
import { plansOf } from '../../support/query-plans.ts'
import { testStorage } from './support/folder.ts'
import { requestOf } from './support/ledger-fixture.ts'

/** A database with so many budgets, and a function that executes a statement and returns its plan. */
async function postgresWith(budgets: number) {
  const url = await createMigratedDatabase()
  onTestFinished(async () => (await sharedPostgres()).dropDatabase(url))
  for (const text of [
    "INSERT INTO organizations (id, name, balance, created_at) VALUES ('o', 'acme', 1000000000, 1)",
    "INSERT INTO processes (id, beat, started_at) VALUES ('p', 1, 1)",
    `INSERT INTO budgets (owner_id, start, organization_id)
      SELECT 'key ' || i % 1000, i / 1000, 'o' FROM generate_series(1, ${budgets}) i`,
    'ANALYZE',
  ])
    await execute(url, text)
  return async ({ text, values }: Statement): Promise<string> => {
    const rows = await execute<{ 'QUERY PLAN': string }>(url, `EXPLAIN (ANALYZE) ${text}`, [...values])
    return rows.map((row) => row['QUERY PLAN']).join('\n')
  }
}

test.skipIf(!hasPostgres)('PostgreSQL finds the budgets of many requests by their key', async () => {
  const explain = await postgresWith(200_000)
  const requests = Array.from({ length: 250 }, () => requestOf('o'))
  const none = toWriteRows('', [])
  const reserves = requests.map((request, index) => {
    const budgets = [budgetOf(`key ${index}`, 1000n, 3), budgetOf(`key ${index + 500}`, 1000n, 5)]
    return toReserveJob({ request, amount: 5n, promptCost: 1n, promptTokens: 1, budgets }, none, 'p')
  })
  const settles = requests.map((request) => ({
    kind: 'settle' as const,
    id: request.id,
    organization: 'o',
    reserved: true,
    budgeted: true,
    costUnknown: false,
    usage: toUsageRow(request, { status: 200, cost: 3n }),
    entry: timeSortedId('led_'),
    rows: none,
  }))
  for (const statement of [reserveStatement('1', reserves), settleStatement('2', settles, 1)]) {
    const plan = await explain(statement)
    expect(plan).toContain('Index Scan using budgets_key on budgets')
    expect(plan).not.toContain('Seq Scan on budgets')
  }
})

test('SQLite finds the keys whose budgets are to be returned without reading the others', () => {
  const { database, writer } = testStorage()
  const plans = plansOf(database, (reading) => {
    void createMintedKeys(createScriptRunner(reading, writer)).returnAllocations()
  })
  const [plan] = plans.values()
  expect([...plans].length).toBe(1)
  expect(plan).toContain('SCAN api_keys USING INDEX api_keys_allocated')
  expect(plan).toContain('SEARCH budgets USING PRIMARY KEY')
})
