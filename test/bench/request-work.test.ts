import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startBillingScenario } from '../support/billing-scenario.ts'
import { chatOutput, jsonReply, streamReply } from '../support/chat-fixtures.ts'
import { chatRequest, type Scenario, startScenario } from '../support/scenario.ts'
import type { Script } from '../support/script.ts'
import { type CountedWork, countWork, type WorkCounts } from './counted-work.ts'

const requests = 11

const complete = [chatRequest, jsonReply()] as const
const streamed = [{ ...chatRequest, stream: true }, streamReply()] as const

let counted: CountedWork
let unmetered: Scenario
let prepaid: Scenario

beforeAll(async () => {
  counted = countWork()
  // Looks for events are not part of a request.
  const webhookInterval = 600_000
  unmetered = await startScenario(jsonReply(), { webhookInterval })
  prepaid = await startBillingScenario(jsonReply(), { webhookInterval, balance: '1000' })
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
    for (const scenario of [unmetered, prepaid]) expectWithin(await workFor(scenario, form), budget)
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

/** The least of several requests: on a busy machine, some do a little more, such as another look at the log. */
async function workFor({ app, acme }: Scenario, [body, script]: Form): Promise<WorkCounts> {
  acme.respondWith(script)
  const counts: WorkCounts[] = []
  for (let index = 0; index < requests; index++)
    counts.push(
      await counted.during(async () => {
        const lines = app.requestLines.all.length
        const reply = await app.chat(body)
        await reply.text()
        expect(reply.status).toBe(200)
        // Its line in the log, which comes a moment later, is part of the work.
        await app.requestLines.beyond(lines)
      }),
    )
  const least = (kind: keyof WorkCounts) => Math.min(...counts.map((found) => found[kind]))
  return {
    timers: least('timers'),
    parsed: least('parsed'),
    serialized: least('serialized'),
    copiedBytes: least('copiedBytes'),
  }
}

function expectWithin(work: WorkCounts, budget: WorkCounts): void {
  for (const kind of ['timers', 'parsed', 'serialized', 'copiedBytes'] as const) {
    expect(work[kind]).toBeGreaterThan(0)
    expect(work[kind]).toBeLessThanOrEqual(budget[kind])
  }
}
