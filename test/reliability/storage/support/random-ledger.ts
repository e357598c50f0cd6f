import { isReserved } from '../../../support/is-reserved.ts'
import { expect } from 'bun:test'
import type { RequestMetadata } from '../../../../src/domain/accounting/request-metadata.ts'
import { createLedger } from '../../../../src/storage/sqlite/ledger.ts'
import { createOrganizations } from '../../../../src/storage/scripts/organization-changes.ts'
import { createScriptRunner } from '../../../../src/storage/sqlite/script-runner.ts'
import { randomFrom } from '../../../unit/providers/protocols/support/random.ts'
import { testStorage } from '../../../unit/storage/support/folder.ts'
import {
  type AccountModel,
  credited,
  emptyAccount,
  recovered,
  reserved,
  reservedOf,
  settled,
} from '../../../unit/storage/support/ledger-model.ts'
import { expectConsistentLedger, requestOf } from '../../../unit/storage/support/ledger-fixture.ts'
import { testChange } from '../../../support/actor.ts'

const maxAtOnce = 60

/** Acts at random for this many rounds, and compares the ledger with a model of it after each. */
export async function expectModelLedger(seed: string, rounds: number): Promise<void> {
  const scenario = await randomScenario(randomFrom(seed))
  for (let round = 0; round < rounds; round++) {
    const actions = Array.from({ length: 1 + Math.floor(scenario.random() * maxAtOnce) }, scenario.act)
    await Promise.all(actions)
    if (scenario.random() < 0.05) await scenario.restart()
    await scenario.compare()
  }
  expect(scenario.tally.refused).toBeGreaterThan(rounds / 3)
  expect(scenario.tally.doubled).toBeGreaterThan(rounds / 3)
  expect(scenario.tally.inDebt).toBeGreaterThan(rounds / 30)
  expect(scenario.tally.actions).toBeGreaterThan(15 * rounds)
}

type Request = { readonly facts: RequestMetadata; readonly owner: string }

/** Acts on the real ledger and on a model of it; those of one round are in flight together. */
async function randomScenario(random: () => number) {
  const { database, writer } = testStorage()
  const organizations = createOrganizations(createScriptRunner(database, writer), testChange)
  let ledger = createLedger(database, writer)
  const model = new Map<string, AccountModel>()
  const ids = new Map<string, string>()
  const opening: Request[] = []
  const ended: Request[] = []
  const tally = { actions: 0, refused: 0, doubled: 0, inDebt: 0, rows: 0 }
  for (const name of ['acme', 'globex', 'initech', 'hooli', 'umbrella']) {
    ids.set(name, (await organizations.create(name)).id)
    model.set(name, emptyAccount)
  }

  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
  const stateOf = (name: string) => model.get(name) ?? emptyAccount
  const newRequest = (): Request => {
    const owner = pick([...model.keys()])
    return { owner, facts: requestOf(ids.get(owner)!) }
  }
  /** From a nano-dollar to some dollars, sometimes nothing, sometimes more than anybody has. */
  const amount = () => {
    const kind = random()
    if (kind < 0.1) return 0n
    return BigInt(Math.floor(10 ** (random() * (kind < 0.15 ? 15 : 10))))
  }

  async function reserve(): Promise<void> {
    const request = newRequest()
    const reservation = { amount: amount(), promptCost: amount() }
    const before = stateOf(request.owner)
    const after = reserved(before, request.facts.id, reservation)
    model.set(request.owner, after)
    if (after === before) tally.refused++
    else opening.push(request)
    const made = await isReserved(ledger, { request: request.facts, promptTokens: 1, ...reservation })
    expect(made).toBe(after !== before)
  }

  async function end(): Promise<void> {
    const [request] = opening.splice(Math.floor(random() * opening.length), 1)
    if (request === undefined) return
    const cost = amount()
    const before = stateOf(request.owner)
    const after = settled(before, request.facts.id, cost)
    model.set(request.owner, after)
    ended.push(request)
    tally.rows++
    const settlement = await ledger.settle(request.facts, { status: pick([200, 499, 502]), cost })
    if (after.balance < 0n) tally.inDebt++
    expect(settlement).toEqual({ recorded: true, charged: before.balance - after.balance })
  }

  async function endAgain(): Promise<void> {
    if (ended.length === 0) return
    tally.doubled++
    const { facts } = pick(ended)
    const again = await ledger.settle(facts, { status: 200, cost: amount() })
    expect(again).toEqual({ recorded: false, charged: 0n })
  }

  async function unmetered(): Promise<void> {
    const request = newRequest()
    ended.push(request)
    tally.rows++
    await ledger.settle(request.facts, { status: 200, cost: amount() })
  }

  async function credit(): Promise<void> {
    const name = pick([...model.keys()])
    const change = random() < 0.3 ? -amount() : amount()
    const before = stateOf(name)
    const after = credited(before, change)
    model.set(name, after)
    const made = organizations.credit(name, change).then(() => true)
    expect(await made.catch(() => false)).toBe(after !== before)
  }

  function act(): Promise<void> {
    tally.actions++
    return pick([reserve, reserve, reserve, end, end, endAgain, unmetered, credit])()
  }

  /** As after a kill: nobody remembers what is open but the database. */
  async function restart(): Promise<void> {
    ledger = createLedger(database, writer)
    expect(await ledger.recover()).toBe(opening.length)
    for (const [name, account] of model) model.set(name, recovered(account))
    tally.rows += opening.length
    ended.push(...opening.splice(0))
  }

  async function compare(): Promise<void> {
    expectConsistentLedger(database.sqlite)
    expect(database.sqlite.query('SELECT count(*) FROM usage').values()[0]?.[0]).toBe(tally.rows)
    const accounts = await organizations.list()
    for (const { name, balance, reserved } of accounts)
      expect([name, balance, reserved]).toEqual([name, stateOf(name).balance, reservedOf(stateOf(name))])
    for (const [name, { entries }] of model) expect([name, sumsOf(name)]).toEqual([name, entries])
  }

  function sumsOf(name: string) {
    const sum = database.sqlite.prepare<{ total: string }, string[]>(
      'SELECT cast(coalesce(sum(amount), 0) as text) total FROM ledger WHERE organization_id = ? AND kind = ?',
    )
    const of = (kind: string) => BigInt(sum.get(ids.get(name)!, kind)?.total ?? 0)
    return { credit: of('credit'), charge: of('charge') }
  }

  return { random, act, restart, compare, tally }
}
