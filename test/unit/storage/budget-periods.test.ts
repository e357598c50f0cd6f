import { expect, test } from 'bun:test'
import { periodAt } from '../../../src/domain/accounting/budget-period.ts'
import { isReserved } from '../../support/is-reserved.ts'
import { budgetedStore, budgetOf } from './support/budget-fixture.ts'
import { expectConsistent } from './support/ledger-fixture.ts'
import { testStores, valuesOf } from './support/stores.ts'

/** The budget of a key for the UTC day of this time, of 100 nano-dollars. */
function dayOf(time: string) {
  return budgetOf('key', 100n, periodAt('day', 'UTC', Date.parse(time)).start)
}

testStores((open) => {
  test('a budget is whole again in its next period, whose row is a new one', async () => {
    const { store, ledger, use, counted } = await budgetedStore(open)
    const [monday, tuesday] = [dayOf('2026-11-23T23:59:59.999Z'), dayOf('2026-11-24T00:00:00Z')]
    expect(await isReserved(ledger, counted(100n, [monday]))).toBe(true)
    expect(await ledger.reserve(counted(1n, [monday]))).toEqual({ budget: monday, available: 0n })
    expect(await isReserved(ledger, counted(100n, [tuesday]))).toBe(true)
    expect(await ledger.reserve(counted(1n, [tuesday]))).toEqual({ budget: tuesday, available: 0n })
    for (const { owner, start } of [monday, tuesday])
      expect(await use(owner, start)).toEqual([0n, 100n, 0n, 0n])
    await expectConsistent(store)
  })

  test('a request that ends after its period counts in that in which it was reserved', async () => {
    const { store, ledger, use, counted } = await budgetedStore(open)
    const [monday, tuesday] = [dayOf('2026-11-23T12:00:00Z'), dayOf('2026-11-24T12:00:00Z')]
    const [late, prompt] = [counted(80n, [monday]), counted(30n, [tuesday])]
    await ledger.reserve(late)
    await ledger.reserve(prompt)
    await ledger.settle(late.request, { status: 200, cost: 70n })
    expect(await use('key', monday.start)).toEqual([70n, 0n, 0n, 0n])
    expect(await use('key', tuesday.start)).toEqual([0n, 30n, 0n, 0n])
    await ledger.settle(prompt.request, { status: 200, cost: 20n })
    expect(await use('key', tuesday.start)).toEqual([20n, 0n, 0n, 0n])
    await expectConsistent(store)
  })

  test('a clock that steps back finds what was spent of the earlier period', async () => {
    const { store, ledger, use, counted } = await budgetedStore(open)
    const [monday, tuesday] = [dayOf('2026-11-23T23:59:00Z'), dayOf('2026-11-24T00:01:00Z')]
    for (const budget of [monday, tuesday]) {
      const reservation = counted(60n, [budget])
      await ledger.reserve(reservation)
      await ledger.settle(reservation.request, { status: 200, cost: 60n })
    }
    expect(await ledger.reserve(counted(41n, [monday]))).toEqual({ budget: monday, available: 40n })
    expect(await isReserved(ledger, counted(40n, [monday]))).toBe(true)
    expect(await use('key', tuesday.start)).toEqual([60n, 0n, 0n, 0n])
    await expectConsistent(store)
  })

  test('reservations of the same moment in two periods are independent', async () => {
    const { ledger, counted } = await budgetedStore(open)
    const [monday, tuesday] = [dayOf('2026-11-23T23:59:59Z'), dayOf('2026-11-24T00:00:01Z')]
    const refusals = await Promise.all([
      ledger.reserve(counted(90n, [monday])),
      ledger.reserve(counted(80n, [tuesday])),
      ledger.reserve(counted(15n, [monday])),
      ledger.reserve(counted(15n, [tuesday])),
    ])
    expect(refusals).toEqual([undefined, undefined, { budget: monday, available: 10n }, undefined])
  })

  test('what a killed process had open is held with the rest of its reservation, while the balance pays the estimate', async () => {
    const { store, ledger, account, use, counted } = await budgetedStore(open, 1_000n)
    const budgets = [budgetOf('project', 200n), dayOf('2026-11-23T12:00:00Z')]
    await ledger.reserve(counted(90n, budgets, true))
    await store.leaveOpen()
    expect(await ledger.recover()).toBe(1)
    expect(await account()).toEqual([991n, 0n])
    for (const { owner, start } of budgets) expect(await use(owner, start)).toEqual([9n, 0n, 81n, 0n])
    await expectConsistent(store)
  })

  test('an unmetered request that a killed process had open costs its budget all that it had reserved', async () => {
    const { store, ledger, account, use, counted } = await budgetedStore(open, 50n)
    await ledger.reserve(counted(90n, [budgetOf('key', 100n)]))
    await store.leaveOpen()
    expect(await ledger.recover()).toBe(1)
    expect(await account()).toEqual([50n, 0n])
    expect(await use('key')).toEqual([9n, 0n, 81n, 0n])
    expect(await valuesOf(store, 'SELECT cost, error FROM usage')).toEqual([[9, 'interrupted']])
    await expectConsistent(store)
  })

  test('an estimate above the reservation holds nothing', async () => {
    const { ledger, use, counted } = await budgetedStore(open)
    const reservation = counted(40n, [budgetOf('key', 100n)])
    await ledger.reserve(reservation)
    await ledger.settle(reservation.request, { status: 0, cost: 55n, costUnknown: true })
    expect(await use('key')).toEqual([55n, 0n, 0n, 0n])
  })

  test('what is held of a budget can be released once, and be spent then', async () => {
    const { store, ledger, acme, use, counted } = await budgetedStore(open)
    const budget = budgetOf('key', 100n)
    const reservation = counted(70n, [budget])
    await ledger.reserve(reservation)
    await ledger.reserve(counted(20n, [budget]))
    await ledger.settle(reservation.request, { status: 0, cost: 10n, costUnknown: true })
    expect(await ledger.reserve(counted(11n, [budget]))).toEqual({ budget, available: 10n })
    expect(await store.budgets.releaseHeld('org_other', budget)).toBe(0n)
    expect(await use('key')).toEqual([10n, 20n, 60n, 0n])
    expect(await store.budgets.releaseHeld(acme.id, budget)).toBe(60n)
    expect(await store.budgets.releaseHeld(acme.id, budget)).toBe(0n)
    expect(await use('key')).toEqual([10n, 20n, 0n, 0n])
    expect(await isReserved(ledger, counted(70n, [budget]))).toBe(true)
    await expectConsistent(store)
  })

  test('the budgets of another organization are neither read nor spent', async () => {
    const { store, ledger, organizations, counted } = await budgetedStore(open)
    await ledger.reserve(counted(70n, [budgetOf('key', 100n)]))
    const { id } = await organizations.create('globex')
    expect(await store.budgets.read(id, [{ owner: 'key', start: 0 }])).toEqual([
      { spent: 0n, reserved: 0n, held: 0n, allocated: 0n },
    ])
  })
})
