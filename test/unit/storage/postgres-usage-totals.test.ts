import { describe, expect, onTestFinished, test } from 'bun:test'
import { timeSortedId } from '../../../src/lib/id.ts'
import { createLedger } from '../../../src/storage/postgres/ledger.ts'
import type { Database } from '../../../src/storage/postgres/connection/database.ts'
import { createOrganizations } from '../../../src/storage/scripts/organization-changes.ts'
import { createScriptRunner } from '../../../src/storage/postgres/run-script.ts'
import { clientReports } from '../../../src/storage/usage/report-slots.ts'
import { createUsageReports } from '../../../src/storage/usage/reports.ts'
import { createUsageSource } from '../../../src/storage/postgres/usage-source.ts'
import { createRollup } from '../../../src/storage/postgres/usage-rollup.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { openTestDatabase } from '../../support/postgres/open-database.ts'
import { execute, hasPostgres, sharedPostgres } from '../../support/postgres/server.ts'
import { requestOf } from './support/ledger-fixture.ts'
import { testChange } from '../../support/actor.ts'

const createdAt = 86_400_000

async function open() {
  const url = await (await sharedPostgres()).createDatabase()
  const database = await openTestDatabase(url)
  onTestFinished(() => database.close())
  const { id } = await createOrganizations(createScriptRunner(database), testChange).create('acme')
  const buckets = createUsageReports(createUsageSource(database), clientReports)
  const query = { width: '1d', from: 0, to: 2 * createdAt, groupBy: [] } as const
  const requests = async () => (await buckets.read(query)).map(({ totals }) => totals.requests)
  const rollUp = createRollup(database)
  return { url, database, id, ledger: createLedger(database), rollUp, requests }
}

/** Keeps a row with this id from being inserted, until the returned function is called. */
async function blockRow(
  { transact }: Database,
  organization: string,
  id: string,
): Promise<() => Promise<void>> {
  const [blocked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const columns =
    'id, organization_id, key_id, created_at, api, stream, prompt_tokens, completion_tokens, ' +
    'cached_tokens, cache_write_tokens, reasoning_tokens, estimated, status'
  const ended = transact(async (query) => {
    await query('SET LOCAL idle_in_transaction_session_timeout = 0')
    const values = [id, organization, createdAt]
    await query(
      `INSERT INTO usage (${columns}) VALUES ($1, $2, '', $3, 'chat', false, 0, 0, 0, 0, 0, false, 200)`,
      values,
    )
    blocked.resolve()
    await released.promise
    throw new Error('The row is not to be inserted.')
  }).catch(() => {})
  await blocked.promise
  return async () => {
    released.resolve()
    await ended
  }
}

describe.skipIf(!hasPostgres)('the totals of usage in PostgreSQL', () => {
  test('are not extended past a row that is being recorded', async () => {
    const { url, database, id, ledger, rollUp, requests } = await open()
    await ledger.settle({ ...requestOf(id), createdAt }, { status: 200 }, { reserved: false })
    await waitUntil(async () => (await requests())[0] === 1, 'the first row')
    const late = { ...requestOf(id, timeSortedId('req_')), createdAt }
    const release = await blockRow(database, id, late.id)
    const settling = ledger.settle(late, { status: 200 })
    const waiting = "SELECT 1 FROM pg_locks WHERE locktype = 'transactionid' AND NOT granted"
    await waitUntil(async () => (await execute(url, waiting)).length > 0, 'a row that waits')
    await expect(rollUp()).rejects.toThrow('unavailable')
    await release()
    await settling
    expect(await requests()).toEqual([2])
    while ((await rollUp()) > 0);
    expect(await requests()).toEqual([2])
    expect(await execute(url, "SELECT sum(requests) FROM usage_totals WHERE width = 'day'")).toEqual([
      { sum: '2' },
    ])
  })

  test('are extended by one process at a time', async () => {
    const { url, database, id, ledger, rollUp, requests } = await open()
    for (let index = 0; index < 5000; index += 250) {
      const together = Array.from({ length: 250 }, (_, offset) => createdAt + index + offset)
      const settle = (at: number) => ledger.settle({ ...requestOf(id), createdAt: at }, { status: 200 })
      await Promise.all(together.map(settle))
    }
    const other = createRollup(database)
    for (let added = 1; added > 0;) {
      const [one, two] = await Promise.all([rollUp(), other()])
      added = one + two
      expect(await requests()).toEqual([5000])
    }
    expect(await execute(url, 'SELECT count(*)::int FROM usage_totals')).toEqual([{ count: 2 }])
  })
})
