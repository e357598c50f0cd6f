import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { App } from '../support/app.ts'
import { startBillingScenario } from '../support/billing-scenario.ts'
import { chatOutput, jsonReply, streamReply } from '../support/chat-fixtures.ts'
import { chatRequest, type Scenario, startScenario } from '../support/scenario.ts'
import type { Script } from '../support/script.ts'
import { type CountedWork, countWork, type WorkCounts } from './counted-work.ts'

const requests = 11
/** On a machine so busy that each request takes longer than a batch waits, each sets the timer of a batch. */
const maxRequests = 300

const complete = [chatRequest, jsonReply()] as const
const streamed = [{ ...chatRequest, stream: true }, streamReply()] as const

let counted: CountedWork
let unmetered: Scenario
let prepaid: Scenario

beforeAll(async () => {
  counted = countWork()
  // Looks for events and for changed keys are not part of a request.
  const intervals = { webhookInterval: 600_000, keyCheckInterval: 600_000 }
  unmetered = await startScenario(jsonReply(), intervals)
  prepaid = await startBillingScenario(jsonReply(), { ...intervals, balance: '1000' })
})

afterAll(async () => {
  await unmetered[Symbol.asyncDispose]()
  await prepaid[Symbol.asyncDispose]()
  counted[Symbol.dispose]()
})

/** Of the client and the provider, too, which are in this process; the provider serializes its reply beforehand. */
const budgets = [
  ['complete', complete, { timers: 3, parsed: 3, serialized: 5, copiedBytes: 1100 }],
  ['streamed', streamed, { timers: 6, parsed: 7, serialized: 9, copiedBytes: 2600 }],
] as const

describe('the work for a request', () => {
  test.each(budgets)('with a %s reply stays within its budget', async (_, form, budget) => {
    for (const scenario of [unmetered, prepaid]) expectWithin(await workFor(scenario, form, budget), budget)
  })

  test('with a long stream sets no timer for each chunk, and parses and serializes each once', async () => {
    const short = await workFor(unmetered, streamOf(20))
    const long = await workFor(unmetered, streamOf(220))
    expect(long.timers - short.timers).toBeLessThanOrEqual(20)
    expect(long.parsed - short.parsed).toBe(200)
    expect(long.serialized - short.serialized).toBeLessThanOrEqual(200)
    // Decoded when it comes, and encoded when it goes.
    expect(long.copiedBytes - short.copiedBytes).toBeLessThanOrEqual(200 * 2 * chunkBytes)
  })
})

type Form = readonly [body: object, script: Script]

/** A little more than a chunk has. */
const chunkBytes = 200

/** A stream with this many chunks of text. */
function streamOf(count: number): Form {
  const text = Array.from({ length: count }, (_, index) => ` w${index}`)
  return [streamed[0], streamReply(chatOutput({ text }))]
}

/**
 * The least of several requests: on a busy machine, some do a little more, such as another look at the log. With a budget,
 * it ends with the request that shows that it is kept.
 */
async function workFor(
  { app, acme }: Scenario,
  [body, script]: Form,
  budget?: WorkCounts,
): Promise<WorkCounts> {
  acme.respondWith(script)
  let least = await workOfOne(app, body)
  const isEnough = (count: number) => (budget === undefined ? count >= requests : isWithin(least, budget))
  for (let count = 1; count < maxRequests && !isEnough(count); count++)
    least = leastOf(least, await workOfOne(app, body))
  return least
}

function workOfOne(app: App, body: object): Promise<WorkCounts> {
  return counted.during(async () => {
    const lines = app.requestLines.all.length
    const reply = await app.chat(body)
    await reply.text()
    expect(reply.status).toBe(200)
    // Its line in the log, which comes a moment later, is part of the work.
    await app.requestLines.beyond(lines)
  })
}

const kinds = ['timers', 'parsed', 'serialized', 'copiedBytes'] as const

function leastOf(one: WorkCounts, other: WorkCounts): WorkCounts {
  return {
    timers: Math.min(one.timers, other.timers),
    parsed: Math.min(one.parsed, other.parsed),
    serialized: Math.min(one.serialized, other.serialized),
    copiedBytes: Math.min(one.copiedBytes, other.copiedBytes),
  }
}

function isWithin(work: WorkCounts, budget: WorkCounts): boolean {
  return kinds.every((kind) => work[kind] <= budget[kind])
}

function expectWithin(work: WorkCounts, budget: WorkCounts): void {
  for (const kind of kinds) {
    expect(work[kind]).toBeGreaterThan(0)
    expect(work[kind]).toBeLessThanOrEqual(budget[kind])
  }
}
