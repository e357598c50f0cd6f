import { Database as Sqlite } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { expectConsistentLedger, fundedStorage } from './support/ledger-fixture.ts'

test('while the database is locked nothing is reserved or settled, and afterwards it can be', async () => {
  const { database, writer, ledger, reservation, account } = await fundedStorage(100n)
  const { request } = reservation(50n)
  await ledger.reserve(reservation(50n, request))
  database.sqlite.run('PRAGMA busy_timeout = 0')
  const other = new Sqlite(database.file)
  other.run('BEGIN IMMEDIATE')
  const failures = await Promise.allSettled([
    ledger.reserve(reservation(50n)),
    ledger.settle(request, { status: 200, cost: 5n }),
  ])
  for (const { reason } of failures as PromiseRejectedResult[]) expect(reason).toMatchObject({ status: 503 })
  other.close()
  expect(await account()).toEqual([100n, 50n])
  expect((await ledger.settle(request, { status: 200, cost: 5n })).recorded).toBe(true)
  // The one that failed comes too late.
  ledger.close()
  await writer.write(() => {})
  expect(await account()).toEqual([95n, 0n])
  expect(database.sqlite.prepare('SELECT status, cost FROM usage').values()).toEqual([[200, 5]])
  expectConsistentLedger(database.sqlite)
})
