import { expect, test } from 'bun:test'
import { type ApiError, serviceUnavailable } from '../../../src/lib/errors/errors.ts'
import { createLedger } from '../../../src/storage/sqlite/ledger.ts'
import { UsageBatcher } from '../../../src/storage/sqlite/usage-batcher.ts'
import { clientReports } from '../../../src/storage/usage/report-slots.ts'
import { createUsageReports, rangesOf } from '../../../src/storage/usage/reports.ts'
import { Writer } from '../../../src/storage/sqlite/writer.ts'
import { createUsageSource } from '../../../src/storage/sqlite/usage-source.ts'
import { fundedStorage, fundedStore, requestOf } from './support/ledger-fixture.ts'
import { testStores, valuesOf } from './support/stores.ts'

testStores((open) => {
  test('usage that costs no one anything is recorded once, without a change of the balance', async () => {
    const { store, acme, account } = await fundedStore(open, 100n)
    const [one, other] = [requestOf(acme.id), requestOf(acme.id)]
    const outcomes = [
      [one, { status: 200, cost: 5n }],
      [other, { status: 404, error: 'model_not_found' }],
      [one, { status: 500, error: 'internal_error' }],
    ] as const
    for (const [request, outcome] of outcomes) await store.ledger.recordUsage(request, outcome)
    await store.written()
    expect(await valuesOf(store, 'SELECT id, status FROM usage ORDER BY id')).toEqual([
      [one.id, 200],
      [other.id, 404],
    ])
    expect(await account()).toEqual([100n, 0n])
    expect(await valuesOf(store, "SELECT kind FROM ledger WHERE kind = 'charge'")).toEqual([])
  })
})

test('the usage of many requests takes one transaction, and a report includes it at once', async () => {
  const { database, writer, ledger, acme } = await fundedStorage(0n)
  const before = writer.stats().commits
  const requests = Array.from({ length: 30 }, () => requestOf(acme.id))
  await Promise.all(requests.map((request) => ledger.recordUsage(request, { status: 200 })))
  const { read } = createUsageReports(createUsageSource(database, ledger.flush), clientReports)
  const from = Math.floor(Date.now() / 86_400_000) * 86_400_000 - 86_400_000
  const groups = await read({ width: '1d', from, to: from + 3 * 86_400_000, groupBy: [] })
  expect(groups.reduce((sum, { totals }) => sum + totals.requests, 0)).toBe(30)
  expect(writer.stats().commits - before).toBe(1)
})

test('usage that waits to be written is written when the ledger is closed', async () => {
  const { database, writer, ledger, acme } = await fundedStorage(0n)
  await ledger.recordUsage(requestOf(acme.id), { status: 200 })
  const count = () => database.sqlite.prepare('SELECT count(*) FROM usage').values()
  expect(count()).toEqual([[0]])
  ledger.close()
  writer.close()
  expect(count()).toEqual([[1]])
})

test('usage that cannot be written is written as it was, once the database can be', async () => {
  const { database, ledger, acme } = await fundedStorage(0n)
  database.sqlite.run('ALTER TABLE usage RENAME TO hidden')
  await ledger.recordUsage(requestOf(acme.id), { status: 200, cost: 5n })
  await ledger.flush()
  database.sqlite.run('ALTER TABLE hidden RENAME TO usage')
  ledger.close()
  await Bun.sleep(0)
  expect(database.sqlite.prepare('SELECT status, cost FROM usage').values()).toEqual([[200, 5]])
})

test('usage of a request that ends while the database is unavailable is written as it was, afterwards', async () => {
  const { database, acme } = await fundedStorage(0n)
  const refusing = { current: serviceUnavailable('The database is locked.') as ApiError | undefined }
  const health = { unavailableError: () => refusing.current, wrote() {}, failed() {} }
  const writer = new Writer(database, { health })
  const ledger = createLedger(database, writer)
  await ledger.recordUsage(requestOf(acme.id), { status: 200, cost: 5n })
  refusing.current = undefined
  const rows = () => database.sqlite.prepare('SELECT status, cost FROM usage').values()
  expect(rows()).toEqual([])
  ledger.close()
  await writer.write(() => {})
  expect(rows()).toEqual([[200, 5]])
})

test('a report that takes too long says how far the totals are after an upgrade, and when to try again', async () => {
  const { database } = await fundedStorage(0n)
  const source = createUsageSource(database)
  const tooLate = { timeoutMs: 0, timeoutError: clientReports.timeoutError, step: rejectAsLate }
  const read = (until: number, to: number): Promise<ApiError> => {
    database.sqlite.run('UPDATE usage_rollup SET until = ?', [until])
    const ranges = rangesOf({ from: 0, to, groupBy: [] })
    const reading = { ranges, by: new Set<string>(), sums: 'all' } as const
    return source
      .readSlices(reading, () => {}, tooLate)
      .then(
        () => Promise.reject(new Error('The report was read.')),
        (error: ApiError) => error,
      )
  }
  const day = 86_400_000
  const behind = await read(Date.UTC(2026, 0, 2, 3, 4), 100_000 * day)
  expect(behind).toMatchObject({ status: 503, headers: { 'retry-after': '60' } })
  expect(behind.message).toContain('have reached 2026-01-02T03:04Z')
  expect((await read(0, 100_000 * day)).message).toContain('have just begun')
  for (const late of [await read(Date.now(), 100_000 * day), await read(2 * day, 2 * day)])
    expect(late.message).toBe(clientReports.timeoutError().message)
})

function rejectAsLate(): Promise<never> {
  return Promise.reject(clientReports.timeoutError())
}

test('a megabyte of content is written at once, without further rows', async () => {
  const written: number[] = []
  const batcher = new UsageBatcher(
    async (rows) => void written.push(rows.length),
    () => {},
  )
  const add = (length: number) =>
    batcher.add({ request: requestOf('org_1'), outcome: { status: 200, content: 'x'.repeat(length) } })
  add(512 * 1024)
  expect(written).toEqual([])
  add(512 * 1024)
  expect(written).toEqual([2])
  add(1024 * 1024)
  expect(written).toEqual([2, 1])
  add(10)
  await batcher.flush()
  expect(written).toEqual([2, 1, 1])
})
