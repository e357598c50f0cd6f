import { expect, test } from 'bun:test'
import type { BudgetLimit } from '../../../src/storage/ports/ledger.ts'
import { isReserved } from '../../support/is-reserved.ts'
import { budgetedStore, budgetOf } from './support/budget-fixture.ts'
import { countOf, entriesOf, expectConsistent, requestOf } from './support/ledger-fixture.ts'
import { testStores, valuesOf } from './support/stores.ts'

testStores((open) => {
  test('a reservation takes its amount from the balance and three budgets, and its settlement charges all of them', async () => {
    const { store, ledger, account, use, counted } = await budgetedStore(open, 1_000n)
    const budgets = [budgetOf('org', 900n), budgetOf('project', 800n, 5), budgetOf('key', 700n)]
    const reservation = counted(300n, budgets, true)
    expect(await ledger.reserve(reservation)).toBeUndefined()
    expect(await account()).toEqual([1_000n, 300n])
    for (const { owner, start } of budgets) expect(await use(owner, start)).toEqual([0n, 300n, 0n, 0n])
    await expectConsistent(store)
    const settled = await ledger.settle(reservation.request, { status: 200, cost: 120n })
    expect(settled).toEqual({ recorded: true, charged: 120n })
    expect(await account()).toEqual([880n, 0n])
    for (const { owner, start } of budgets) expect(await use(owner, start)).toEqual([120n, 0n, 0n, 0n])
    expect(await entriesOf(store)).toEqual([
      ['credit', 1_000],
      ['charge', -120],
    ])
    await expectConsistent(store)
  })

  test.each([
    { low: 'the balance', limits: [500n, 400n, 300n], amount: 101n, refused: null, available: 100n },
    { low: 'all', limits: [10n, 10n, 10n], amount: 101n, refused: null, available: 100n },
    { low: 'the first budget', limits: [90n, 400n, 300n], amount: 91n, refused: 0, available: 90n },
    { low: 'the second budget', limits: [99n, 80n, 300n], amount: 81n, refused: 1, available: 80n },
    { low: 'the last budget', limits: [99n, 98n, 0n], amount: 1n, refused: 2, available: 0n },
  ])('if $low is too low, nothing is reserved of any', async ({ limits, amount, refused, available }) => {
    const { store, ledger, account, use, counted } = await budgetedStore(open, 100n)
    const budgets = limits.map((limit, index) => budgetOf(`owner ${index}`, limit))
    const refusal = await ledger.reserve(counted(amount, budgets, true))
    expect(refusal).toEqual({ budget: refused === null ? null : budgets[refused]!, available })
    expect(await account()).toEqual([100n, 0n])
    for (const { owner } of budgets) expect(await use(owner)).toEqual([0n, 0n, 0n, 0n])
    for (const table of ['budgets', 'reservations']) expect(await countOf(store, table)).toBe(0)
  })

  test('a refusal reports the balance first, then the budgets in their order', async () => {
    const { ledger, counted } = await budgetedStore(open, 10n)
    const [first, second] = [budgetOf('first', 50n), budgetOf('second', 40n)]
    const tooLow = async (amount: bigint, prepaid: boolean, budgets: readonly BudgetLimit[]) =>
      (await ledger.reserve(counted(amount, budgets, prepaid)))?.budget
    expect(await tooLow(51n, true, [first, second])).toBeNull()
    expect(await tooLow(51n, false, [first, second])).toEqual(first)
    expect(await tooLow(51n, false, [second, first])).toEqual(second)
    expect(await tooLow(41n, false, [first, second])).toEqual(second)
    expect(await tooLow(40n, false, [first, second])).toBeUndefined()
  })

  test('a prepaid reservation without budgets that is refused reports what is available of the balance', async () => {
    const { ledger, reservation } = await budgetedStore(open, 100n)
    await ledger.reserve(reservation(30n))
    expect(await ledger.reserve(reservation(71n))).toEqual({ budget: null, available: 70n })
  })

  test('amounts that fit a budget exactly are reserved, and one nano-dollar more is not', async () => {
    const { store, ledger, use, counted } = await budgetedStore(open)
    const budget = budgetOf('key', 100n)
    expect(await isReserved(ledger, counted(60n, [budget]))).toBe(true)
    expect(await ledger.reserve(counted(41n, [budget]))).toEqual({ budget, available: 40n })
    expect(await isReserved(ledger, counted(40n, [budget]))).toBe(true)
    expect(await isReserved(ledger, counted(0n, [budget]))).toBe(true)
    expect(await ledger.reserve(counted(1n, [budget]))).toEqual({ budget, available: 0n })
    expect(await use('key')).toEqual([0n, 100n, 0n, 0n])
    await expectConsistent(store)
  })

  test('of 400 concurrent reservations exactly those succeed that a shared budget covers', async () => {
    const { store, ledger, use, counted } = await budgetedStore(open)
    const shared = budgetOf('project', 1_000n)
    const made = await Promise.all(
      Array.from({ length: 400 }, (_, index) =>
        isReserved(ledger, counted(7n, [shared, budgetOf(`key ${index % 10}`, 10_000n)])),
      ),
    )
    expect(made.filter(Boolean)).toHaveLength(142)
    expect(await use('project')).toEqual([0n, 994n, 0n, 0n])
    await expectConsistent(store)
  })

  test('a small reservation fits after a large one of the same moment was refused, whichever budget was too low', async () => {
    const { store, ledger, use, counted } = await budgetedStore(open)
    const [shared, first, second] = [budgetOf('project', 100n), budgetOf('one', 90n), budgetOf('two', 60n)]
    const refusals = await Promise.all([
      ledger.reserve(counted(50n, [shared, first])),
      ledger.reserve(counted(51n, [shared, second])),
      ledger.reserve(counted(41n, [shared, first])),
      ledger.reserve(counted(45n, [shared, second])),
      ledger.reserve(counted(5n, [shared, first])),
      ledger.reserve(counted(1n, [shared, first])),
    ])
    expect(refusals).toEqual([
      undefined,
      { budget: shared, available: 50n },
      { budget: first, available: 40n },
      undefined,
      undefined,
      { budget: shared, available: 0n },
    ])
    expect([await use('project'), await use('one'), await use('two')]).toEqual([
      [0n, 100n, 0n, 0n],
      [0n, 55n, 0n, 0n],
      [0n, 45n, 0n, 0n],
    ])
    await expectConsistent(store)
  })

  test('budgets and balances of reservations of the same moment are independent', async () => {
    const { store, ledger, account, use, counted, reservation } = await budgetedStore(open, 100n)
    const key = budgetOf('key', 70n)
    const refusals = await Promise.all([
      ledger.reserve(reservation(50n)),
      ledger.reserve(counted(60n, [key], true)),
      ledger.reserve(counted(60n, [key])),
      ledger.reserve(counted(10n, [key], true)),
      ledger.reserve(reservation(40n)),
      ledger.reserve(counted(1n, [key])),
    ])
    expect(refusals).toEqual([
      undefined,
      { budget: null, available: 50n },
      undefined,
      undefined,
      undefined,
      { budget: key, available: 0n },
    ])
    expect(await account()).toEqual([100n, 100n])
    expect(await use('key')).toEqual([0n, 70n, 0n, 0n])
    await expectConsistent(store)
  })

  test('an unmetered organization with a budget spends nothing of its balance, and its usage is recorded', async () => {
    const { store, ledger, account, use, counted } = await budgetedStore(open, 100n)
    const reservation = counted(5_000n, [budgetOf('key', 10_000n)])
    await ledger.reserve(reservation)
    expect(await account()).toEqual([100n, 0n])
    const settled = await ledger.settle(reservation.request, { status: 200, cost: 4_000n })
    expect(settled).toEqual({ recorded: true, charged: 0n })
    expect(await account()).toEqual([100n, 0n])
    expect(await use('key')).toEqual([4_000n, 0n, 0n, 0n])
    expect(await valuesOf(store, 'SELECT cost FROM usage')).toEqual([[4_000]])
    expect(await entriesOf(store)).toEqual([['credit', 100]])
    await expectConsistent(store)
  })

  test('an unmetered organization that does not exist or is being deleted reserves nothing', async () => {
    const { store, ledger, organizations, counted } = await budgetedStore(open)
    const budgets = [budgetOf('key', 100n)]
    const unknown = { ...counted(1n, budgets), request: requestOf('org_nobody') }
    expect(await ledger.reserve(unknown)).toEqual({ budget: null, available: 0n })
    await organizations.beginDeletion('acme')
    expect(await ledger.reserve(counted(1n, budgets))).toEqual({ budget: null, available: 0n })
    expect(await countOf(store, 'budgets')).toBe(0)
  })

  test.each([
    { cost: undefined, spent: 0n },
    { cost: -5n, spent: 0n },
    { cost: 0n, spent: 0n },
    { cost: 150n, spent: 150n },
    { cost: 10n ** 40n, spent: BigInt(Number.MAX_SAFE_INTEGER) },
  ])('a budget counts the cost of a request, also above its reservation: $cost', async ({ cost, spent }) => {
    const { store, ledger, use, counted } = await budgetedStore(open)
    const [key, other] = [budgetOf('key', 100n), counted(30n, [budgetOf('key', 100n)])]
    const reservation = counted(40n, [key])
    await Promise.all([ledger.reserve(reservation), ledger.reserve(other)])
    await ledger.settle(reservation.request, { status: 200, cost })
    expect(await use('key')).toEqual([spent, 30n, 0n, 0n])
    await ledger.settle(other.request, { status: 200, cost })
    const both = 2n * spent
    const highest = BigInt(Number.MAX_SAFE_INTEGER)
    expect(await use('key')).toEqual([both > highest ? highest : both, 0n, 0n, 0n])
    await expectConsistent(store)
  })

  test('a budget that is overdrawn refuses even a request that costs nothing, and says by how much', async () => {
    const { ledger, counted } = await budgetedStore(open)
    const budget = budgetOf('key', 100n)
    const reservation = counted(40n, [budget])
    await ledger.reserve(reservation)
    await ledger.settle(reservation.request, { status: 200, cost: 130n })
    expect(await ledger.reserve(counted(0n, [budget]))).toEqual({ budget, available: -30n })
  })

  test('a budget that was lowered below what is spent refuses, and one that was raised accepts', async () => {
    const { ledger, counted } = await budgetedStore(open)
    await ledger.reserve(counted(60n, [budgetOf('key', 100n)]))
    const lowered = budgetOf('key', 50n)
    expect(await ledger.reserve(counted(1n, [lowered]))).toEqual({ budget: lowered, available: -10n })
    expect(await isReserved(ledger, counted(60n, [budgetOf('key', 120n)]))).toBe(true)
  })

  test('only the first settlement of a request counts against its budgets, also of several concurrent ones', async () => {
    const { store, ledger, use, counted } = await budgetedStore(open)
    const reservation = counted(50n, [budgetOf('key', 100n)])
    await ledger.reserve(reservation)
    const settled = await Promise.all(
      [20n, 30n, 40n].map((cost) => ledger.settle(reservation.request, { status: 200, cost })),
    )
    expect(settled.map(({ recorded }) => recorded)).toEqual([true, false, false])
    expect(await use('key')).toEqual([20n, 0n, 0n, 0n])
    await expectConsistent(store)
  })
})
