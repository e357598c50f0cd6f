import { describe, expect, onTestFinished, test } from 'bun:test'
import { Client } from 'pg'
import { Secret } from '../../../src/lib/secret.ts'
import { createLedger } from '../../../src/storage/postgres/ledger.ts'
import { createOrganizations } from '../../../src/storage/scripts/organization-changes.ts'
import { createManagedStores } from '../../../src/storage/scripts/managed-stores.ts'
import { createScriptRunner } from '../../../src/storage/postgres/run-script.ts'
import { joinCluster } from '../../../src/storage/postgres/cluster/cluster.ts'
import { isReserved } from '../../support/is-reserved.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { openTestDatabase } from '../../support/postgres/open-database.ts'
import { execute, hasPostgres, sharedPostgres } from '../../support/postgres/server.ts'
import { requestOf } from './support/ledger-fixture.ts'
import { testActor, testChange } from '../../support/actor.ts'

async function open(url: string) {
  const database = await openTestDatabase(url)
  const { leave } = await joinCluster(new Secret(url), database)
  onTestFinished(async () => {
    await database.close()
    await leave()
  })
  return {
    database,
    ledger: createLedger(database),
    organizations: createOrganizations(createScriptRunner(database), testChange),
  }
}

/** Locks the row of every organization, as a slow transaction does; call the returned function to release them. */
async function lockOrganizations(url: string): Promise<() => Promise<void>> {
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query({ text: 'BEGIN' })
  await client.query({ text: 'SELECT FROM organizations FOR UPDATE' })
  return () => client.end()
}

describe.skipIf(!hasPostgres)('the PostgreSQL store', () => {
  test('commits the requests of a moment in a few transactions', async () => {
    const { database, ledger, organizations } = await open(await (await sharedPostgres()).createDatabase())
    const { id } = await organizations.create('acme')
    const requests = Array.from({ length: 1000 }, () => requestOf(id))
    await Promise.all(requests.map((request) => ledger.settle(request, { status: 200, cost: 1n })))
    expect(database.writer.stats()).toMatchObject({ commits: 4, failed: 0, waiting: 0 })
  })

  test('lets the reply of an unmetered request wait for nothing, and that of a prepaid one for its commit', async () => {
    const url = await (await sharedPostgres()).createDatabase()
    const { ledger, organizations } = await open(url)
    const { id } = await organizations.create('acme')
    await organizations.credit('acme', 100n)
    const request = requestOf(id)
    await ledger.reserve({ request, amount: 10n, promptCost: 1n, promptTokens: 1 })
    const release = await lockOrganizations(url)
    await ledger.recordUsage(requestOf(id), { status: 200 })
    let charged = false
    const prepaid = ledger.settle(request, { status: 200, cost: 7n }).then(() => (charged = true))
    await Bun.sleep(100)
    expect(charged).toBe(false)
    await release()
    await prepaid
    const usage = () => execute(url, 'SELECT id FROM usage')
    await waitUntil(async () => (await usage()).length === 2, 'both usage rows')
  })

  test('extends a created key with the content log of its creator, although that changes meanwhile', async () => {
    const url = await (await sharedPostgres()).createDatabase()
    const { database, organizations } = await open(url)
    await organizations.create('acme')
    let now = 1000
    const { keys } = createManagedStores(createScriptRunner(database), testActor, () => now)
    const input = { organization: 'acme', name: 'agents', expiresAt: null, budget: 100n, contentLog: true }
    const { record: creator } = await keys.create({ ...input, permissions: ['mint'] })
    const { record: created } = await keys.mint(creator.id, { name: 'run', expiresAt: 1500, budget: 1n })
    now = 2000
    const client = new Client({ connectionString: url })
    await client.connect()
    await client.query({ text: 'BEGIN' })
    const text = 'UPDATE api_keys SET content_log = false WHERE public_id = $1'
    await client.query({ text, values: [creator.id] })
    const extending = keys.change(created.id, { expiresAt: 9000 })
    const waits = async () => (await execute(url, 'SELECT 1 FROM pg_locks WHERE NOT granted')).length > 0
    await Promise.race([extending, waitUntil(waits, 'the change waits')])
    await client.query({ text: 'COMMIT' })
    await client.end()
    expect((await extending).contentLog).toBe(false)
  })

  test('reserves nothing for a process that is removed while it waits for a lock', async () => {
    const url = await (await sharedPostgres()).createDatabase()
    const { ledger, database, organizations } = await open(url)
    const { id } = await organizations.create('acme')
    await organizations.credit('acme', 1000n)
    const release = await lockOrganizations(url)
    const reserved = ledger.reserve({ request: requestOf(id), amount: 7n, promptCost: 1n, promptTokens: 1 })
    reserved.catch(() => {})
    await execute(url, 'DELETE FROM processes WHERE id = $1', [database.process.id()])
    await release()
    await expect(reserved).rejects.toMatchObject({ status: 503 })
    expect(await execute(url, 'SELECT request_id FROM reservations')).toEqual([])
  })

  test.each(['the balance', 'a budget'])(
    'never reserves more than %s for two processes on one database',
    async (limit) => {
      const url = await (await sharedPostgres()).createDatabase()
      const [one, other] = [await open(url), await open(url)]
      const { id } = await one.organizations.create('acme')
      await one.organizations.credit('acme', 1000n)
      const counted = { prepaid: false, budgets: [{ owner: 'key', start: 0, limit: 1000n }] }
      const reserve = (index: number) =>
        isReserved((index % 2 ? one : other).ledger, {
          request: requestOf(id),
          amount: 7n,
          promptCost: 1n,
          promptTokens: 1,
          ...(limit === 'a budget' ? counted : {}),
        })
      const made = await Promise.all(Array.from({ length: 400 }, (_, index) => reserve(index)))
      expect(made.filter(Boolean)).toHaveLength(142)
      const sums = 'SELECT balance, reserved, (SELECT sum(reserved) FROM budgets) budget FROM organizations'
      expect(await execute(url, sums)).toEqual([
        limit === 'a budget'
          ? { balance: '1000', reserved: '0', budget: '994' }
          : { balance: '1000', reserved: '994', budget: null },
      ])
    },
  )

  test('finds stored completions by an index, whatever the filter is', async () => {
    const url = await (await sharedPostgres()).createDatabase()
    await open(url)
    await execute(
      url,
      `INSERT INTO completions (id, sequence, organization_id, model, metadata, terms, completion, messages)
      SELECT 'c' || i, i, 'org', 'm', '{}', ARRAY[md5('all')::uuid, md5('some' || i % 1000)::uuid], '{}', '[]'
      FROM generate_series(1, 20000) i`,
    )
    await execute(url, 'ANALYZE completions')
    const plan = async (condition: string) =>
      JSON.stringify(
        await execute(
          url,
          `EXPLAIN SELECT id FROM completions WHERE organization_id = 'org' AND ${condition}
          ORDER BY sequence DESC, id DESC LIMIT 21`,
        ),
      )
    const conditions = [
      'true',
      "model = 'm'",
      "terms @> ARRAY[md5('all')::uuid]",
      "terms @> ARRAY[md5('some7')::uuid]",
      "terms @> ARRAY[md5('all')::uuid, md5('some7')::uuid]",
    ]
    for (const condition of conditions) {
      const found = await plan(condition)
      expect([condition, found]).toEqual([condition, expect.stringContaining('completions_')])
      expect([condition, found]).not.toEqual([condition, expect.stringContaining('Seq Scan')])
    }
  })
})
