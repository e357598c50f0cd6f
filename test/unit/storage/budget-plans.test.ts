import { expect, onTestFinished, test } from 'bun:test'
import { timeSortedId } from '../../../src/lib/id.ts'
import { budgetOf } from './support/budget-fixture.ts'
import { reserveStatement, toReserveJob } from '../../../src/storage/postgres/reservations.ts'
import { settleStatement, toUsageRow } from '../../../src/storage/postgres/settlement.ts'
import type { Statement } from '../../../src/storage/postgres/writer/statement.ts'
import { toWriteRows } from '../../../src/storage/postgres/writes.ts'
import { noAlerts } from '../../../src/storage/ports/webhooks.ts'
import { createManagedStores } from '../../../src/storage/scripts/managed-stores.ts'
import { createAllocationReturns } from '../../../src/storage/scripts/minted-keys.ts'
import type { ManagedStores } from '../../../src/storage/ports/storage.ts'
import * as postgresScripts from '../../../src/storage/postgres/run-script.ts'
import { createScriptRunner } from '../../../src/storage/sqlite/script-runner.ts'
import { createMigratedDatabase } from '../../support/postgres/migrated-database.ts'
import { execute, hasPostgres, sharedPostgres } from '../../support/postgres/server.ts'
import { plansOf } from '../../support/query-plans.ts'
import { testStorage } from './support/folder.ts'
import { requestOf } from './support/ledger-fixture.ts'
import { testActor } from '../../support/actor.ts'

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

test.skipIf(!hasPostgres).each([
  ['', noAlerts],
  [', also with webhooks', { ...noAlerts, budgetThresholds: [50, 80, 100], lowBalance: 1n }],
])('PostgreSQL finds the budgets of many requests by their key%s', async (_, alerts) => {
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
    alerts,
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
    void createAllocationReturns(createScriptRunner(reading, writer)).returnAllocations()
  })
  const [plan] = plans.values()
  expect([...plans].length).toBe(1)
  expect(plan).toContain('SCAN api_keys USING INDEX api_keys_allocated')
  expect(plan).toContain('SEARCH budgets USING PRIMARY KEY')
})

/** The lists of what is near its end. */
const readNearEnds = ({ organizations, projects, keys }: ManagedStores) => {
  const page = { limit: 100, order: 'desc', nearEndAt: Date.now() } as const
  return Promise.all([organizations.page(page), projects.page({ ...page, deleted: false }), keys.page(page)])
}

test('SQLite finds what is near its end in the order of the lists, and its budgets by their key', async () => {
  const { database, writer } = testStorage()
  const { organizations, projects } = createManagedStores(createScriptRunner(database, writer), testActor)
  await organizations.create('acme')
  await projects.create({ organization: 'acme', name: 'research', budget: 1n, budgetPeriod: 'month' })
  const plans = plansOf(database, (reading) => {
    void readNearEnds(createManagedStores(createScriptRunner(reading, writer), testActor))
  })
  const paged = [...plans].filter(([text]) => text.includes('order by')).map(([, plan]) => plan)
  expect(paged).toHaveLength(3)
  for (const plan of paged) {
    expect(plan).toContain('SEARCH budgets USING PRIMARY KEY (owner_id=? AND start=?)')
    expect(plan).not.toContain('TEMP B-TREE')
  }
})

test.skipIf(!hasPostgres)('PostgreSQL finds the budgets of what is near its end by their key', async () => {
  const url = await createMigratedDatabase()
  onTestFinished(async () => (await sharedPostgres()).dropDatabase(url))
  const limits = "'month', 100 FROM generate_series(1, 2000) i"
  for (const text of [
    `INSERT INTO organizations (id, name, created_at, budget_period, budget) SELECT 'org ' || i, i, 1, ${limits}`,
    `INSERT INTO projects (id, organization_id, name, created_at, budget_period, budget)
      SELECT 'proj ' || i, 'org ' || i, 'research', 1, ${limits}`,
    `INSERT INTO api_keys (public_id, organization_id, name, secret_hash, last4, created_at, budget_period, budget)
      SELECT 'key ' || i, 'org ' || i, 'laptop', '', '', 1, ${limits}`,
    `INSERT INTO budgets (owner_id, start, organization_id) SELECT kind || ' ' || i, start, 'org ' || i
      FROM unnest(ARRAY['org', 'proj', 'key']) kind, generate_series(1, 2000) i, generate_series(1, 30) start`,
    'ANALYZE',
  ])
    await execute(url, text)
  const plans: string[] = []
  const query = async <Row>(text: string, values: readonly unknown[] = []) => {
    const rows = await execute<{ 'QUERY PLAN': string }>(url, `EXPLAIN ${text}`, [...values])
    plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'))
    return await execute<Row>(url, text, [...values])
  }
  const transact = () => Promise.reject(new Error('A list changes nothing.'))
  await readNearEnds(createManagedStores(postgresScripts.createScriptRunner({ query, transact }), testActor))
  const paged = plans.filter((plan) => plan.includes('Limit'))
  expect(paged).toHaveLength(3)
  for (const plan of paged) {
    expect(plan).toContain('Index Scan using budgets_key on budgets')
    expect(plan).not.toContain('Seq Scan on budgets')
  }
})
