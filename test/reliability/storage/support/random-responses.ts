import { expect } from 'bun:test'
import { sqliteResponses } from '../../../unit/storage/support/sqlite-responses.ts'
import { randomFrom } from '../../../unit/providers/protocols/support/random.ts'
import {
  chainOf,
  storedIds,
  type ModelResponse,
  isFinished,
  type ResponseModel,
  visibleResponse,
} from '../../../unit/storage/support/response-model.ts'
import {
  finished,
  idOf,
  responseStorage,
  unfinished,
} from '../../../unit/storage/support/response-fixture.ts'

const maxAtOnce = 40

/** Acts at random for this many rounds, and compares the stored responses with a model of them after each. */
export async function expectModelResponses(seed: string, rounds: number): Promise<void> {
  const scenario = await randomScenario(randomFrom(seed))
  for (let round = 0; round < rounds; round++) {
    await Promise.all(Array.from({ length: 1 + Math.floor(scenario.random() * maxAtOnce) }, scenario.act))
    if (scenario.random() < 0.2) await scenario.expire()
    if (scenario.random() < 0.1) scenario.restart()
    await scenario.compare()
  }
  for (const [name, count] of Object.entries(scenario.tally))
    expect([name, count > rounds / 8]).toEqual([name, true])
}

/** Acts on the real responses and on a model of them; those of one round are in flight together. */
async function randomScenario(random: () => number) {
  const { database, writer, acme, other, rows, pieces, erased, writes, runs, ...storage } =
    await responseStorage()
  let { responses } = storage
  const model: ResponseModel = new Map()
  const tally = { removed: 0, hidden: 0, running: 0, missing: 0, expired: 0, appended: 0 }
  let clock = 1000

  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
  const pickId = () => (random() < 0.05 ? 'resp_unknown' : pick([...model.keys(), 'resp_unknown'].slice(-40)))
  /** Mostly the owner. */
  const pickReader = (id: string) => (random() < 0.1 ? pick([acme, other]) : (model.get(id)?.owner ?? acme))
  const change = (id: string, facts: Partial<ModelResponse>) => model.set(id, { ...model.get(id)!, ...facts })

  async function insert(): Promise<void> {
    const owner = random() < 0.2 ? other : acme
    const before = [...model.values()].filter((one) => one.owner === owner && !one.deleted && isFinished(one))
    const previousId = random() < 0.8 ? pick(before)?.id : undefined
    const id = idOf(clock, model.size)
    const made = random() < 0.7 ? finished(owner, previousId) : unfinished(owner, 'queued', previousId)
    const { status, log } = made
    model.set(id, { id, owner, previousId, createdAt: clock, status, deleted: false, log })
    await writer.write(() => writes.insert({ ...made, id }))
  }

  async function start(): Promise<void> {
    const id = pickId()
    const reader = pickReader(id)
    const response = visibleResponse(model, reader, id)
    const expected = response !== undefined && !isFinished(response)
    if (expected) change(id, { status: 'in_progress' })
    expect(await storage.start(reader, id)).toBe(expected)
  }

  async function append(): Promise<void> {
    const id = pickId()
    const reader = pickReader(id)
    const response = visibleResponse(model, reader, id)
    const position = tally.appended
    if (response?.status === 'in_progress') {
      change(id, { log: `${response.log}[${position}]\n` })
      tally.appended++
    }
    await storage.append(reader, id, position, `[${position}]\n`)
  }

  async function finish(): Promise<void> {
    const id = pickId()
    const reader = pickReader(id)
    const response = visibleResponse(model, reader, id)
    const end = { status: pick(['completed', 'failed', 'incomplete'] as const), log: `[${random()}]` }
    const expected = response !== undefined && !isFinished(response)
    if (expected) change(id, end)
    expect(await writer.write(() => writes.finish(reader, id, end))).toBe(expected)
  }

  async function remove(): Promise<void> {
    const id = pickId()
    const reader = pickReader(id)
    const response = visibleResponse(model, reader, id)
    const expected = response === undefined ? 'missing' : removalOf(response)
    tally[expected]++
    if (expected === 'removed') change(id, { deleted: true })
    expect(await responses.remove(reader, id)).toBe(expected)
  }

  function removalOf(response: ModelResponse) {
    return isFinished(response) ? 'removed' : 'running'
  }

  function act(): Promise<void> {
    clock += random() < 0.3 ? 1 : 0
    return pick([insert, insert, insert, start, start, append, append, append, finish, remove])()
  }

  async function expire(): Promise<void> {
    const before = clock - Math.floor(random() * 60)
    const due = [...model.values()].filter((one) => !one.deleted && isFinished(one) && one.createdAt < before)
    for (const { id } of due) change(id, { deleted: true })
    tally.expired += due.length
    const steps: number[] = []
    while (steps.at(-1) !== 0) steps.push(await responses.expire(before))
    expect(steps.reduce((total, count) => total + count)).toBe(due.length)
  }

  function restart(): void {
    responses = sqliteResponses(database, writer)
  }

  async function compare(): Promise<void> {
    await erased()
    const needed = storedIds(model)
    expect(rows()).toEqual(needed)
    tally.hidden += needed.filter((id) => model.get(id)!.deleted).length
    const running = [...model.values()].filter((one) => !one.deleted && !isFinished(one))
    const ids = running.map(({ id }) => id)
    expect((await runs.owned('owner')).map(({ id }) => id).toSorted()).toEqual(ids.toSorted())
    expect(new Set(pieces()).difference(new Set(ids)).size).toBe(0)
    for (const response of [...model.values()].slice(-80)) await compareOne(response)
  }

  async function compareOne({ id, owner, status, log, deleted }: ModelResponse): Promise<void> {
    const found = await responses.find(owner, id)
    expect(found && [found.status, found.log]).toEqual(deleted ? undefined : [status, log])
    expect(await responses.find(owner === acme ? other : acme, id)).toBeUndefined()
    const chain = isFinished(model.get(id)!)
      ? await responses.chain(owner, id)
      : await responses.runContext(owner, id)
    expect(chain?.map((link) => link.id)).toEqual(deleted ? undefined : chainOf(model, model.get(id)!))
  }

  return { random, act, expire, restart, compare, tally }
}
