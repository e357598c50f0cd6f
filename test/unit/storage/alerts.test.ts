import { expect, test } from 'bun:test'
import type { BudgetLimit } from '../../../src/storage/ports/ledger.ts'
import { noAlerts } from '../../../src/storage/ports/webhooks.ts'
import { budgetedStore, budgetOf } from './support/budget-fixture.ts'
import { type OpenStore, type StoreOptions, type TestStore, testStores, valuesOf } from './support/stores.ts'

const all = { ...noAlerts, budgetThresholds: [50, 80, 100], lowBalance: 100n }

/** Writes of events: their types and data, oldest first. */
async function eventsOf(
  store: TestStore,
): Promise<(readonly [type: unknown, data: Record<string, unknown>])[]> {
  const rows = await valuesOf(store, 'SELECT type, data FROM webhook_events ORDER BY created_at, data')
  return rows.map(([type, data]) => [type, JSON.parse(String(data))])
}

/** An organization with this balance, and a function that pays for a request out of budgets. */
async function alertingStore(open: OpenStore, balance = 0n, options: StoreOptions = { alerts: () => all }) {
  const found = await budgetedStore(() => open(options), balance)
  const { ledger, counted } = found
  const pay = async (cost: bigint, budgets: readonly BudgetLimit[] = [], reserved = cost) => {
    const reservation = counted(reserved, budgets, balance > 0n)
    expect(await ledger.reserve(reservation)).toBeUndefined()
    await ledger.settle(reservation.request, { status: 200, cost })
  }
  const crossings = async () => {
    const events = await eventsOf(found.store)
    return events.map(([, { owner, start, threshold }]) => `${owner} ${start} ${threshold}`).toSorted()
  }
  return { ...found, pay, crossings }
}

testStores((open) => {
  test('each threshold of a budget is one event in a period, also if one request crosses two', async () => {
    const { store, pay, crossings } = await alertingStore(open)
    const budget = (start: number) => [budgetOf('key', 1000n, start)]
    await pay(499n, budget(0))
    expect(await crossings()).toEqual([])
    await pay(1n, budget(0))
    expect(await eventsOf(store)).toEqual([
      ['budget.threshold', { owner: 'key', start: 0, threshold: 50, limit: '1000', spent: '500' }],
    ])
    await pay(299n, budget(0))
    await pay(101n, budget(0))
    await pay(99n, budget(0))
    expect(await crossings()).toEqual(['key 0 50', 'key 0 80'])
    await pay(1n, budget(0))
    await pay(0n, budget(0))
    expect(await crossings()).toEqual(['key 0 100', 'key 0 50', 'key 0 80'])
    await pay(850n, budget(7))
    expect(await crossings()).toEqual(['key 0 100', 'key 0 50', 'key 0 80', 'key 7 50', 'key 7 80'])
  })

  test('the budgets of an organization, a project and a key have thresholds of their own', async () => {
    const { pay, crossings } = await alertingStore(open)
    await pay(80n, [budgetOf('org', 1000n), budgetOf('project', 160n, 5), budgetOf('key', 100n)])
    expect(await crossings()).toEqual(['key 0 50', 'key 0 80', 'project 5 50'])
  })

  test('a threshold is one event, however many requests of one moment cross it', async () => {
    const { pay, crossings } = await alertingStore(open)
    const budgets = [budgetOf('key', 100n), budgetOf('org', 50n)]
    await Promise.all(Array.from({ length: 50 }, () => pay(1n, budgets)))
    expect(await crossings()).toEqual(['key 0 50', 'org 0 100', 'org 0 50', 'org 0 80'])
  })

  test('a budget that was lowered is compared with the next request, and one that was raised when a share is crossed again', async () => {
    const { pay, crossings } = await alertingStore(open)
    await pay(100n, [budgetOf('key', 1000n)])
    await pay(1n, [budgetOf('key', 200n)])
    expect(await crossings()).toEqual(['key 0 50'])
    await pay(398n, [budgetOf('key', 1000n)])
    expect(await crossings()).toEqual(['key 0 50'])
    await pay(1n, [budgetOf('key', 1000n)])
    expect(await crossings()).toEqual(['key 0 50', 'key 0 50'])
  })

  test('each share is an event again when spending crosses it under a budget that was raised', async () => {
    const { store, ledger, counted, pay, crossings } = await alertingStore(open)
    const [old, raised] = [[budgetOf('key', 100n)], [budgetOf('key', 1000n)]]
    await pay(85n, old)
    expect(await crossings()).toEqual(['key 0 50', 'key 0 80'])
    const running = counted(5n, old)
    await ledger.reserve(running)
    // Nothing comes at once, and an old request repeats nothing.
    await pay(1n, raised)
    await ledger.settle(running.request, { status: 200, cost: 5n })
    await pay(408n, raised)
    expect(await crossings()).toEqual(['key 0 50', 'key 0 80'])
    await pay(1n, raised)
    await pay(1n, raised)
    await Promise.all(Array.from({ length: 49 }, () => pay(10n, raised)))
    await pay(9n, raised)
    const events = await eventsOf(store)
    expect(events.map(([, { threshold, limit }]) => `${threshold} of ${limit}`).toSorted()).toEqual([
      '100 of 1000',
      '50 of 100',
      '50 of 1000',
      '80 of 100',
      '80 of 1000',
    ])
  })

  test('a reservation of an earlier version, which has no amounts of budgets, is settled without an event', async () => {
    const { store, ledger, counted, use, crossings } = await alertingStore(open)
    const reservation = counted(90n, [budgetOf('key', 100n)])
    await ledger.reserve(reservation)
    await store.rows(`UPDATE reservations SET budgets = '[["key",0]]'`)
    // The metadata of a recovered request is another object.
    await ledger.settle({ ...reservation.request }, { status: 200, cost: 90n })
    expect(await use('key')).toEqual([90n, 0n, 0n, 0n])
    expect(await crossings()).toEqual([])
  })

  test('what a killed server has left open counts with its estimate, by the budget of its reservation', async () => {
    const { store, ledger, counted, pay, use, crossings } = await alertingStore(open)
    const budget = budgetOf('key', 1000n)
    await pay(450n, [budget])
    await ledger.reserve(counted(500n, [budget]))
    await store.leaveOpen()
    expect(await ledger.recover()).toBe(1)
    expect(await use('key')).toEqual([500n, 0n, 450n, 0n])
    expect(await crossings()).toEqual(['key 0 50'])
  })

  test('a balance is low once, until it is credited above the threshold', async () => {
    const { store, organizations, pay } = await alertingStore(open, 1000n)
    const count = async () => (await eventsOf(store)).length
    await pay(899n)
    expect(await count()).toBe(0)
    await pay(1n)
    expect(await eventsOf(store)).toEqual([['balance.low', { balance: '100', threshold: '100' }]])
    await pay(50n)
    await organizations.credit('acme', 50n)
    await pay(50n)
    expect(await count()).toBe(1)
    await organizations.credit('acme', 51n)
    await Promise.all(Array.from({ length: 20 }, () => pay(1n)))
    expect(await count()).toBe(2)
  })

  test('a request that costs more than was reserved takes the balance below zero with one event', async () => {
    const { store, pay } = await alertingStore(open, 101n)
    await pay(500n, [], 10n)
    expect(await eventsOf(store)).toEqual([['balance.low', { balance: '-399', threshold: '100' }]])
  })

  test('without an endpoint for them there are no events, and one that is added later tells the highest state', async () => {
    let rules = noAlerts
    const { store, pay, crossings } = await alertingStore(open, 1000n, { alerts: () => rules })
    await pay(950n, [budgetOf('key', 1000n)])
    expect(await eventsOf(store)).toEqual([])
    rules = { ...all, lowBalance: undefined }
    await pay(1n, [budgetOf('key', 1000n)])
    expect(await crossings()).toEqual(['key 0 50', 'key 0 80'])
  })
})
