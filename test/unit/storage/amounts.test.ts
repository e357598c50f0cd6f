import { expect, test } from 'bun:test'
import { silentLog } from '../../../src/lib/log.ts'
import type { Database } from '../../../src/storage/sqlite/connection/database.ts'
import { openDatabase } from '../../../src/storage/sqlite/connection/database.ts'
import { createOrganizations } from '../../../src/storage/scripts/organization-changes.ts'
import { createScriptRunner } from '../../../src/storage/sqlite/script-runner.ts'
import { Writer } from '../../../src/storage/sqlite/writer.ts'
import { budgetOf } from './support/budget-fixture.ts'
import { expectConsistentLedger, fundedStorage } from './support/ledger-fixture.ts'
import { testChange } from '../../support/actor.ts'

const ok = { status: 200, cost: 40n }

/** The organizations of the same file as another process has them, such as a command. */
function otherProcess({ file }: Database & { readonly file: string }) {
  const database = openDatabase(file, silentLog)
  const writer = new Writer(database)
  return {
    organizations: createOrganizations(createScriptRunner(database, writer), testChange),
    [Symbol.dispose]() {
      writer.close()
      database.close()
    },
  }
}

/** Counts the updates of a table. */
function countUpdates({ sqlite }: Database, table: string): () => number {
  sqlite.run(`CREATE TEMP TABLE updates_of_${table} (n)`)
  for (const event of ['INSERT', 'UPDATE'])
    sqlite.run(`CREATE TEMP TRIGGER ${table}_${event} AFTER ${event} ON ${table}
      BEGIN INSERT INTO updates_of_${table} VALUES (1); END`)
  const count = sqlite.prepare<{ readonly n: number }, []>(`SELECT count(*) n FROM updates_of_${table}`)
  return () => count.get()?.n ?? 0
}

test('what another process adds to a balance, or takes from it, counts for the next reservation', async () => {
  const { database, ledger, reservation, account } = await fundedStorage(100n)
  using other = otherProcess(database)
  expect(await ledger.reserve(reservation(100n))).toBeUndefined()
  expect(await ledger.reserve(reservation(50n))).toMatchObject({ available: 0n })
  await other.organizations.credit('acme', 80n)
  expect(await ledger.reserve(reservation(50n))).toBeUndefined()
  await other.organizations.credit('acme', -20n)
  expect(await ledger.reserve(reservation(20n))).toMatchObject({ available: 10n })
  expect(await account()).toEqual([160n, 150n])
  expectConsistentLedger(database.sqlite)
})

test('a credit among the charges of one transaction neither loses them nor is lost', async () => {
  const { database, ledger, organizations, reservation, account } = await fundedStorage(1_000n)
  const [first, second] = [reservation(100n), reservation(100n)]
  const pending = [
    ledger.reserve(first),
    organizations.credit('acme', 500n),
    ledger.reserve(second),
    ledger.settle(first.request, ok),
    organizations.credit('acme', -200n),
    ledger.settle(second.request, ok),
  ]
  await Promise.all(pending)
  expect(await account()).toEqual([1_220n, 0n])
  expectConsistentLedger(database.sqlite)
})

test('an invalid change among the charges of one transaction undoes none of them', async () => {
  const { database, ledger, organizations, reservation, account } = await fundedStorage(1_000n)
  const [first, second] = [reservation(100n), reservation(100n)]
  await Promise.all([ledger.reserve(first), ledger.reserve(second)])
  const settled = ledger.settle(first.request, ok)
  const tooMuch = organizations.credit('acme', -10_000n)
  await Promise.all([settled, expect(tooMuch).rejects.toThrow('balance'), ledger.settle(second.request, ok)])
  expect(await account()).toEqual([920n, 0n])
  expectConsistentLedger(database.sqlite)
})

test('a transaction that fails leaves nothing reserved or charged', async () => {
  const { database, ledger, reservation, account } = await fundedStorage(1_000n)
  const budgets = [budgetOf('key', 500n)]
  const open = { ...reservation(100n), budgets }
  await ledger.reserve(open)
  const pages = Number(database.sqlite.prepare('PRAGMA page_count').values()[0]?.[0])
  database.sqlite.run(`PRAGMA max_page_count = ${pages}`)
  const large = { ...reservation(200n).request, model: 'x'.repeat(100_000) }
  const failed = await Promise.allSettled([
    ledger.reserve({ ...reservation(100n), budgets }),
    ledger.reserve({ ...reservation(200n, large), budgets }),
  ])
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  database.sqlite.run(`PRAGMA max_page_count = ${pages + 1000}`)
  expect(await account()).toEqual([1_000n, 100n])
  // All that is left of the balance and of the budget, and not more.
  expect(await ledger.reserve({ ...reservation(401n), budgets })).toMatchObject({ available: 400n })
  expect(await ledger.reserve({ ...reservation(400n), budgets })).toBeUndefined()
  expect(await ledger.reserve(reservation(501n))).toMatchObject({ available: 500n })
  expect(await ledger.settle(open.request, ok)).toEqual({ recorded: true, charged: 40n })
  expect(await account()).toEqual([960n, 400n])
  expectConsistentLedger(database.sqlite)
})

test('the requests of one transaction write a balance and a budget once', async () => {
  const { database, writer, ledger, reservation, account } = await fundedStorage(10_000n)
  const updates = {
    balances: countUpdates(database, 'organizations'),
    budgets: countUpdates(database, 'budgets'),
  }
  const before = writer.stats().commits
  const budgets = [budgetOf('key', 10_000n)]
  const reservations = Array.from({ length: 50 }, () => ({ ...reservation(100n), budgets }))
  await Promise.all(reservations.map((one) => ledger.reserve(one)))
  await Promise.all(reservations.map(({ request }) => ledger.settle(request, ok)))
  expect(await account()).toEqual([8_000n, 0n])
  const transactions = writer.stats().commits - before
  expect(transactions).toBeLessThan(10)
  expect({ balances: updates.balances(), budgets: updates.budgets() }).toEqual({
    balances: transactions,
    budgets: transactions,
  })
  expectConsistentLedger(database.sqlite)
})

test('a reservation that another ledger of the file has made is settled with its row', async () => {
  const { database, ledger, reservation, account } = await fundedStorage(1_000n)
  const one = { ...reservation(100n), budgets: [budgetOf('key', 500n)] }
  await ledger.reserve(one)
  // A copy of the metadata, as a recovery has it.
  expect(await ledger.settle({ ...one.request }, ok)).toEqual({ recorded: true, charged: 40n })
  expect(await ledger.settle(one.request, ok)).toEqual({ recorded: false, charged: 0n })
  expect(await account()).toEqual([960n, 0n])
  expectConsistentLedger(database.sqlite)
})
