import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startBillingScenario } from '../support/billing-scenario.ts'
import { waitUntil } from '../support/billing-database.ts'
import { streamReply, jsonReply } from '../support/chat-fixtures.ts'
import { chatRequest, type Scenario, startScenario } from '../support/scenario.ts'
import { type CountedStatements, countStatements } from './counted-statements.ts'

const forms = [
  ['complete', chatRequest, jsonReply()],
  ['streamed', { ...chatRequest, stream: true }, streamReply()],
] as const

let counted: CountedStatements
let unmetered: Scenario
let prepaid: Scenario

beforeAll(async () => {
  counted = countStatements()
  unmetered = await startScenario(jsonReply())
  prepaid = await startBillingScenario(jsonReply(), { balance: '1000' })
})

afterAll(async () => {
  await unmetered[Symbol.asyncDispose]()
  await prepaid[Symbol.asyncDispose]()
  counted[Symbol.dispose]()
})

describe('the database budget of a request', () => {
  test.each(forms)('is one commit for a %s reply, with its usage row', async (_, body, script) => {
    unmetered.acme.respondWith(script)
    const counts = await counted.during((sofar) => askAndRecord(unmetered, body, 1, sofar))
    expectWithin(counts, { commits: 1, writes: 2 })
    expect(allOf(counts)).toBeLessThanOrEqual(10)
  })

  test.each(forms)('is two commits for a paid %s reply, with the balance', async (_, body, script) => {
    prepaid.acme.respondWith(script)
    const counts = await counted.during(() => ask(prepaid, body))
    expectWithin(counts, { commits: 2, writes: 6 })
    expect(allOf(counts)).toBeLessThanOrEqual(19)
  })

  test('is shared by replies that end at the same moment', async () => {
    const together = 48
    unmetered.acme.respondWith(jsonReply())
    const work = (sofar: Counts) => askAndRecord(unmetered, chatRequest, together, sofar)
    const { commits, writes } = costsOf(await counted.during(work))
    expect(writes).toBeGreaterThanOrEqual(together)
    expect(writes).toBeLessThanOrEqual(2 * together)
    expect(commits).toBeLessThanOrEqual(together / 2)
  })

  test('is no write for a list of models', async () => {
    const counts = await counted.during(() =>
      unmetered.app.request('/v1/models').then((reply) => reply.text()),
    )
    expect(costsOf(counts)).toEqual({ commits: 0, writes: 0 })
  })
})

async function ask({ app }: Scenario, body: object): Promise<void> {
  const reply = await app.chat(body)
  await reply.text()
  expect(reply.status).toBe(200)
}

/** Sends the requests at once, and waits until their usage is recorded. */
async function askAndRecord(scenario: Scenario, body: object, times: number, sofar: Counts): Promise<void> {
  await Promise.all(Array.from({ length: times }, () => ask(scenario, body)))
  const isRecorded = () => costsOf(sofar).writes >= times && costsOf(sofar).commits > 0
  await waitUntil(isRecorded, `${times} usage rows`)
}

/** A budget of writes may be kept by fewer; a promise to the caller needs its commit. */
function expectWithin(counts: Counts, budget: Costs): void {
  const { commits, writes } = costsOf(counts)
  expect(commits).toBe(budget.commits)
  expect(writes).toBeLessThanOrEqual(budget.writes)
}

type Costs = { readonly commits: number; readonly writes: number }

type Counts = ReadonlyMap<string, number>

function costsOf(counts: Counts): Costs {
  return {
    commits: matching(counts, /^commit/i),
    writes: matching(counts, /^(insert|update|delete|replace)/i),
  }
}

function allOf(counts: Counts): number {
  return matching(counts, /./)
}

function matching(counts: Counts, pattern: RegExp): number {
  const found = [...counts].filter(([text]) => pattern.test(text.trim()))
  return found.reduce((sum, [, count]) => sum + count, 0)
}
