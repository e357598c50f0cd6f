import { expect } from 'bun:test'
import type { RequestMetadata } from '../../../../src/domain/accounting/request-metadata.ts'
import type { BudgetLimit } from '../../../../src/storage/ports/ledger.ts'
import { randomFrom } from '../../../unit/providers/protocols/support/random.ts'
import { BudgetModel, type CountedRequest } from '../../../unit/storage/support/budget-model.ts'
import { expectConsistent, requestOf } from '../../../unit/storage/support/ledger-fixture.ts'
import type { TestStore } from '../../../unit/storage/support/stores.ts'

const maxAtOnce = 60
const periods = [0, 86_400_000]

type OpenRequest = { readonly metadata: RequestMetadata; readonly counted: CountedRequest }

/** Acts at random for this many rounds, and compares balances and budgets with a model of them after each. */
export async function expectModelBudgets(store: TestStore, seed: string, rounds: number): Promise<void> {
  const scenario = await randomScenario(store, randomFrom(seed))
  for (let round = 0; round < rounds; round++) {
    // PostgreSQL settles before it reserves; within one of these, the order is that of the calls.
    await scenario.settle()
    await scenario.reserve()
    await scenario.change()
    await scenario.compare()
  }
  await scenario.recover()
  await scenario.compare()
  const { tally } = scenario
  expect(tally.budget).toBeGreaterThan(rounds)
  expect(tally.balance).toBeGreaterThan(rounds / 3)
  expect(tally.made).toBeGreaterThan(3 * rounds)
  expect(tally.held).toBeGreaterThan(rounds / 10)
  expect(tally.doubled).toBeGreaterThan(rounds / 10)
}

/** Each of two organizations has a budget, two projects and four keys. */
async function randomScenario(store: TestStore, random: () => number) {
  const { ledger, organizations } = store
  const model = new BudgetModel()
  const limits = new Map<string, bigint>()
  const names = new Map<string, string>()
  let open: OpenRequest[] = []
  const ended: OpenRequest[] = []
  const tally = { made: 0, balance: 0, budget: 0, held: 0, doubled: 0 }
  for (const name of ['acme', 'globex']) {
    const { id } = await organizations.create(name)
    names.set(id, name)
    for (const owner of ownersOf(id)) limits.set(owner, 10_000n)
  }

  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
  const amount = () => (random() < 0.1 ? 0n : BigInt(Math.floor(10 ** (random() * 4))))
  const many = () => Array.from({ length: 1 + Math.floor(random() * maxAtOnce) })

  function newRequest(): OpenRequest {
    const organization = pick([...names.keys()])
    const owners = ownersOf(organization)
    const applying = [owners[0]!, pick(owners.slice(1, 3)), pick(owners.slice(3))]
    const budgets = applying
      .filter(() => random() < 0.7)
      .map((owner): BudgetLimit => ({ owner, start: pick(periods), limit: limits.get(owner) ?? 0n }))
    const counted = { organization, amount: amount(), prepaid: random() < 0.5, budgets }
    return { metadata: requestOf(organization), counted }
  }

  async function reserve(): Promise<void> {
    const results = many().map(() => {
      const request = newRequest()
      const { metadata, counted } = request
      const expected = model.reserve(counted)
      if (expected === undefined) {
        open.push(request)
        tally.made++
      } else tally[expected.budget === null ? 'balance' : 'budget']++
      const { amount, prepaid, budgets } = counted
      const bounds = { amount, promptCost: amount / 10n, promptTokens: 1 }
      return { made: ledger.reserve({ request: metadata, prepaid, budgets, ...bounds }), expected }
    })
    for (const { made, expected } of results) expect(await made).toEqual(expected)
  }

  async function settle(): Promise<void> {
    const [settled, left] = [open.filter(() => random() < 0.6), new Set(open)]
    for (const request of settled) left.delete(request)
    open = [...left]
    const results = settled.map((request) => {
      const { metadata, counted } = request
      const unknown = random() < 0.2
      const cost = random() < 0.1 ? amount() : BigInt(Math.floor(Number(counted.amount) * random()))
      model.settle(counted, cost, unknown)
      if (unknown && counted.budgets.length > 0) tally.held++
      ended.push(request)
      const outcome = { status: 200, cost, ...(unknown && { costUnknown: true as const }) }
      return { done: ledger.settle(metadata, outcome), charged: counted.prepaid ? cost : 0n }
    })
    const again =
      ended.length > 0 ? ledger.settle(pick(ended).metadata, { status: 200, cost: 5n }) : undefined
    for (const { done, charged } of results) expect(await done).toEqual({ recorded: true, charged })
    if (again === undefined) return
    tally.doubled++
    expect(await again).toEqual({ recorded: false, charged: 0n })
  }

  /** Credits, other limits, and the release of what is held. */
  async function change(): Promise<void> {
    for (const [id, name] of names) {
      const account = model.balanceOf(id)
      const credit = BigInt(1 + Math.floor(random() * 20_000))
      // Credits do not pile up: balances would refuse nothing any more.
      const isPoor = account.balance < 10_000n
      if (isPoor && random() < 0.4)
        await organizations.credit(name, credit).then(() => (account.balance += credit))
      const owner = pick(ownersOf(id))
      const spent = periods.map((start) => model.countsOf({ owner, start }).spent)
      if (random() < 0.5)
        limits.set(
          owner,
          spent.reduce((sum, one) => sum + one, 10n * amount()),
        )
      const key = { owner: pick(ownersOf(id)), start: pick(periods) }
      if (random() > 0.2) continue
      const counts = model.countsOf(key)
      expect(await store.budgets.releaseHeld(id, key)).toBe(counts.held)
      counts.held = 0n
    }
  }

  /** As after a kill. */
  async function recover(): Promise<void> {
    await store.leaveOpen()
    expect(await ledger.recover()).toBe(open.length)
    for (const { counted } of open) model.settle(counted, counted.amount / 10n, true)
    open = []
  }

  async function compare(): Promise<void> {
    await expectConsistent(store)
    for (const { id, balance, reserved } of await organizations.list()) {
      expect({ balance, reserved }).toEqual(model.balanceOf(id))
      const keys = ownersOf(id).flatMap((owner) => periods.map((start) => ({ owner, start })))
      const expected = keys.map((key) => {
        const { highest: _highest, exceeded: _exceeded, ...use } = model.countsOf(key)
        return use
      })
      expect(await store.budgets.read(id, keys)).toEqual(expected)
    }
    expect(model.overspent()).toEqual([])
  }

  return { reserve, settle, change, recover, compare, tally }
}

function ownersOf(organization: string): readonly string[] {
  const projects = [0, 1].map((index) => `${organization} project ${index}`)
  return [organization, ...projects, ...[0, 1, 2, 3].map((index) => `${organization} key ${index}`)]
}
