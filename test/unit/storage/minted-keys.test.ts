import { expect, test } from 'bun:test'
import type { KeyInput, MintInput } from '../../../src/storage/ports/accounts.ts'
import type { BudgetLimit } from '../../../src/storage/ports/ledger.ts'
import { isReserved } from '../../support/is-reserved.ts'
import { budgetedStore, budgetOf } from './support/budget-fixture.ts'
import { countOf, expectConsistent } from './support/ledger-fixture.ts'
import { type OpenStore, testStores } from './support/stores.ts'

const hour = 3_600_000
const day = 24 * hour

/** A key with a budget of 1,000 nano-dollars that creates others, at a time that the test sets. */
async function mintingStore(open: OpenStore, properties: Partial<KeyInput> = {}) {
  const budgeted = await budgetedStore(open)
  const { store, ledger, use, counted } = budgeted
  const clock = { now: Date.parse('2026-11-25T12:00:00Z') }
  const keys = store.keys(() => clock.now)
  const input = { organization: 'acme', name: 'agents', expiresAt: null, budget: 1_000n, ...properties }
  const { record: parent } = await keys.create({ ...input, permissions: ['mint'] })
  const mint = async (budget: bigint, change: Partial<MintInput> = {}) => {
    const { record } = await keys.mint(parent.id, {
      name: 'run',
      expiresAt: clock.now + hour,
      budget,
      ...change,
    })
    return record
  }
  /** Reserves and settles a request. */
  const spend = async (budget: BudgetLimit, amount: bigint, costUnknown?: true) => {
    const reservation = counted(amount, [budget])
    expect(await ledger.reserve(reservation)).toBeUndefined()
    const cost = costUnknown ? amount / 2n : amount
    await ledger.settle(reservation.request, { status: 200, cost, ...(costUnknown && { costUnknown }) })
  }
  return { ...budgeted, clock, keys, parent, mint, spend, useOfParent: () => use(parent.limitsId) }
}

testStores((open) => {
  test('a minted key takes its budget from that of its parent, and has its organization and project', async () => {
    const { store, keys, parent, mint, useOfParent } = await mintingStore(open)
    const { id: project } = await store.projects.create({ organization: 'acme', name: 'research' })
    await keys.change(parent.id, { project })
    const minted = await mint(300n, { models: ['acme/*'], tags: ['a'], note: 'one run' })
    expect(minted).toMatchObject({
      organization: 'acme',
      project: { id: project, name: 'research' },
      parent: parent.id,
      limitsId: minted.id,
      permissions: [],
      tags: ['a'],
      note: 'one run',
    })
    expect(minted.limits).toMatchObject({ budget: 300n, budgetPeriod: 'none', models: ['acme/*'] })
    expect(await useOfParent()).toEqual([0n, 0n, 0n, 300n])
    await expectConsistent(store)
  })

  test('a key mints exactly as much as is left of its budget, and a refused one leaves no key', async () => {
    const { store, ledger, parent, mint, spend, counted, useOfParent } = await mintingStore(open)
    const own = budgetOf(parent.limitsId, 1_000n)
    await spend(own, 100n)
    await spend(own, 60n, true)
    await ledger.reserve(counted(200n, [own]))
    await mint(400n)
    await expect(mint(241n)).rejects.toThrow('more than the 0.00000024 USD that are left')
    expect(await countOf(store, 'api_keys')).toBe(2)
    await mint(240n)
    await expect(mint(1n)).rejects.toThrow('more than the 0.00 USD that are left')
    expect(await useOfParent()).toEqual([130n, 200n, 30n, 640n])
    expect(await ledger.reserve(counted(1n, [own]))).toEqual({ budget: own, available: 0n })
    await expectConsistent(store)
  })

  test('of concurrent mints exactly those succeed that the budget covers', async () => {
    const { store, mint, useOfParent } = await mintingStore(open)
    const minted = await Promise.allSettled(Array.from({ length: 12 }, () => mint(150n)))
    expect(minted.filter(({ status }) => status === 'fulfilled')).toHaveLength(6)
    expect(await countOf(store, 'api_keys')).toBe(7)
    expect(await useOfParent()).toEqual([0n, 0n, 0n, 900n])
  })

  test.each(['expires', 'is revoked'])(
    'once a minted key %s, its parent gets back what it did not spend',
    async (end) => {
      const { store, clock, keys, parent, mint, spend, useOfParent } = await mintingStore(open)
      const minted = await mint(300n)
      await spend(budgetOf(minted.id, 300n), 120n)
      expect(await keys.returnAllocations()).toBe(0)
      expect(await useOfParent()).toEqual([0n, 0n, 0n, 300n])
      if (end === 'expires') clock.now += hour
      else await keys.revoke(minted.id)
      expect(await keys.returnAllocations()).toBe(1)
      expect(await keys.returnAllocations()).toBe(0)
      expect(await useOfParent()).toEqual([120n, 0n, 0n, 0n])
      await spend(budgetOf(parent.limitsId, 1_000n), 880n)
      await expectConsistent(store)
    },
  )

  test.each(['expires', 'is revoked', 'is replaced'])(
    'once the parent %s, it gets back what its keys did not spend',
    async (end) => {
      const { clock, keys, parent, mint, spend, useOfParent } = await mintingStore(open)
      await keys.change(parent.id, { expiresAt: clock.now + day })
      const minted = await mint(300n, { expiresAt: null })
      await spend(budgetOf(minted.id, 300n), 120n)
      if (end === 'is revoked') await keys.revoke(parent.id)
      else if (end === 'is replaced') await keys.rotate(parent.id, 0)
      else clock.now += day
      expect(await keys.returnAllocations()).toBe(1)
      expect(await useOfParent()).toEqual([120n, 0n, 0n, 0n])
    },
  )

  test('a budget is not returned while a request of the key is open, and what it costs is counted', async () => {
    const { store, ledger, keys, mint, counted, useOfParent } = await mintingStore(open)
    const minted = await mint(300n)
    const reservation = counted(200n, [budgetOf(minted.id, 300n)])
    await ledger.reserve(reservation)
    await keys.revoke(minted.id)
    expect(await keys.returnAllocations()).toBe(0)
    expect(await useOfParent()).toEqual([0n, 0n, 0n, 300n])
    await ledger.settle(reservation.request, { status: 200, cost: 250n })
    expect(await keys.returnAllocations()).toBe(1)
    expect(await useOfParent()).toEqual([250n, 0n, 0n, 0n])
    await expectConsistent(store)
  })

  test('what is held of the budget of an ended key is held of that of its parent', async () => {
    const { store, keys, acme, parent, mint, spend, use, useOfParent } = await mintingStore(open)
    const minted = await mint(300n)
    await spend(budgetOf(minted.id, 300n), 200n, true)
    await keys.revoke(minted.id)
    expect(await keys.returnAllocations()).toBe(1)
    expect(await useOfParent()).toEqual([100n, 0n, 100n, 0n])
    expect((await use(minted.id))?.[2]).toBe(0n)
    expect(await store.budgets.releaseHeld(acme.id, { owner: parent.limitsId, start: 0 })).toBe(100n)
    expect(await useOfParent()).toEqual([100n, 0n, 0n, 0n])
  })

  test.each([0n, 120n])(
    'a returned budget is never spent a second time, by a server that still knows the key or after an extension: %d spent',
    async (spent) => {
      const { ledger, clock, keys, mint, spend, counted } = await mintingStore(open)
      const minted = await mint(300n)
      const budget = budgetOf(minted.id, 300n)
      if (spent > 0n) await spend(budget, spent)
      clock.now += hour
      expect(await keys.returnAllocations()).toBe(1)
      await keys.change(minted.id, { expiresAt: clock.now + hour })
      expect(await ledger.reserve(counted(1n, [budget]))).toEqual({ budget, available: 0n })
      clock.now += 2 * hour
      expect(await keys.returnAllocations()).toBe(0)
    },
  )

  test('a budget goes back to the period in which it was taken', async () => {
    const { clock, keys, parent, mint, spend, use } = await mintingStore(open, { budgetPeriod: 'day' })
    const [today, tomorrow] = [Date.parse('2026-11-25T00:00:00Z'), Date.parse('2026-11-26T00:00:00Z')]
    const first = await mint(1_000n, { expiresAt: clock.now + day })
    clock.now += 20 * hour
    await mint(700n)
    await spend(budgetOf(first.id, 1_000n), 600n)
    expect(await use(parent.limitsId, today)).toEqual([0n, 0n, 0n, 1_000n])
    expect(await use(parent.limitsId, tomorrow)).toEqual([0n, 0n, 0n, 700n])
    await keys.revoke(first.id)
    expect(await keys.returnAllocations()).toBe(1)
    expect(await use(parent.limitsId, today)).toEqual([600n, 0n, 0n, 0n])
    expect(await use(parent.limitsId, tomorrow)).toEqual([0n, 0n, 0n, 700n])
  })

  test('several processes return each budget once', async () => {
    const { store, clock, keys, mint, spend, useOfParent } = await mintingStore(open)
    for (let index = 0; index < 5; index++) await spend(budgetOf((await mint(100n)).id, 100n), 10n)
    clock.now += hour
    const others = [store.keys(() => clock.now), keys, store.keys(() => clock.now)]
    const returned = await Promise.all(others.map((process) => process.returnAllocations()))
    expect(returned.reduce((sum, count) => sum + count, 0)).toBe(5)
    expect(await useOfParent()).toEqual([50n, 0n, 0n, 0n])
  })

  test('a key without a budget mints keys with one, which nothing has to return', async () => {
    const { ledger, clock, keys, mint, counted, useOfParent } = await mintingStore(open, { budget: null })
    const budget = budgetOf((await mint(10n ** 15n)).id, 10n ** 15n)
    expect(await isReserved(ledger, counted(10n ** 15n, [budget]))).toBe(true)
    clock.now += hour
    expect(await keys.returnAllocations()).toBe(0)
    expect(await useOfParent()).toEqual([0n, 0n, 0n, 0n])
  })

  test('a minted key creates no other, and its budget cannot be changed', async () => {
    const { keys, mint } = await mintingStore(open)
    const minted = await mint(300n)
    await keys.change(minted.id, { permissions: ['mint'], name: 'renamed' })
    const input = { name: 'third', expiresAt: null, budget: 1n }
    await expect(keys.mint(minted.id, input)).rejects.toThrow('so it cannot create others')
    for (const change of [{ budget: 400n }, { budget: null }, { budgetPeriod: 'day' as const }])
      await expect(keys.change(minted.id, change)).rejects.toThrow('is part of that of')
    await expect(keys.rotate(minted.id, 0)).rejects.toThrow('is part of that of')
  })

  test('the keys of a deleted organization return nothing, and leave no budget behind', async () => {
    const { store, clock, keys, organizations, parent, mint } = await mintingStore(open)
    await mint(300n)
    await organizations.delete('acme')
    await expect(keys.mint(parent.id, { name: 'x', expiresAt: null, budget: 1n })).rejects.toThrow('deleted')
    clock.now += hour
    await keys.returnAllocations()
    expect(await keys.returnAllocations()).toBe(0)
    expect(await countOf(store, 'budgets')).toBe(0)
  })
})
