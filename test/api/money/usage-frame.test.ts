import { describe, expect, test } from 'bun:test'
import {
  abortedPromptCost,
  maxCost,
  type BillingScenario,
  startBillingScenario,
  replyCost,
} from '../../support/billing-scenario.ts'
import { readPieces } from '../../support/body-reader.ts'
import { chunks, delta, doneFrame, usage } from '../../support/chat-fixtures.ts'
import { postResponse } from '../../support/responses.ts'
import { chatRequest } from '../../support/scenario.ts'
import { hang, type Piece } from '../../support/script.ts'

const streamRequest = { ...chatRequest, stream: true }
const output = [delta({ role: 'assistant', content: 'It is ' }), delta({ content: 'four' })]
/** Longer than a test waits for anything: what ends, ends for another reason. */
const unlimited = { usageTimeoutMs: 600_000 }
const usageChunk = { choices: [], usage }

/** An answer whose end has come, and whose usage waits for the gate. */
function gated(gate: Promise<unknown>, ...rest: (object | Piece)[]) {
  return chunks([...output, delta({ content: ' metres.' }, 'stop'), gate, ...rest], hang)
}

/** Reads the last words, with which the gateway has read the end. */
async function readToEnd(paid: BillingScenario, body: object = {}) {
  const reader = readPieces(await paid.app.chat({ ...streamRequest, ...body }))
  await reader.until(' metres.')
  return reader
}

/** Resolves when the gateway has noticed who left before: what it is asked now comes behind that. */
async function noticed({ app }: BillingScenario): Promise<void> {
  for (let round = 0; round < 5; round++) await app.request('/livez')
}

describe('a client that disconnects between the end of the output and its usage', () => {
  test('is charged the usage of the provider once that arrives, and then the upstream call is aborted', async () => {
    const gate = Promise.withResolvers<void>()
    await using paid = await startBillingScenario(gated(gate.promise, usageChunk))
    const reader = await readToEnd(paid)
    await reader.leave()
    await noticed(paid)
    expect(await paid.billing.usage()).toEqual([])
    expect(await paid.billing.account()).toEqual([1e9, maxCost])
    gate.resolve()
    const [row] = await paid.billing.waitForUsage(1)
    expect(row).toMatchObject({ status: 499, error: 'client_gone', cost: replyCost, estimated: 0 })
    expect(await paid.acme.requests[0]!.aborted).toBe(true)
    expect(paid.app.lines).toEqual([])
    await paid.billing.expectConsistent()
  })

  test('of a response is charged in the same way', async () => {
    const gate = Promise.withResolvers<void>()
    await using paid = await startBillingScenario(gated(gate.promise, usageChunk))
    const reader = readPieces(await postResponse(paid.app, { stream: true }))
    await reader.until(' metres.')
    await reader.leave()
    gate.resolve()
    const [row] = await paid.billing.waitForUsage(1)
    expect(row).toMatchObject({ status: 499, cost: replyCost, estimated: 0 })
  })

  test('is awaited by a gateway that drains, and its call stays open until then', async () => {
    const gate = Promise.withResolvers<void>()
    await using paid = await startBillingScenario(gated(gate.promise, usageChunk), {
      settings: { limits: { concurrent_requests: 1 } },
    })
    const reader = await readToEnd(paid)
    await reader.leave()
    await noticed(paid)
    expect((await paid.app.chat(chatRequest)).status).toBe(429)
    const { runtime } = paid.app
    runtime.drain()
    let drained = false
    const finished = runtime.drained().then(() => (drained = true))
    await noticed(paid)
    expect(drained).toBe(false)
    gate.resolve()
    await finished
    await paid.billing.waitForUsage(2)
    expect((await paid.billing.usage()).find(({ status }) => status === 499)).toMatchObject({
      cost: replyCost,
    })
  })

  test('is charged an estimate where no usage arrives in time', async () => {
    const usageTimeoutMs = 300
    await using paid = await startBillingScenario(gated(new Promise(() => {})), { usageTimeoutMs })
    const reader = await readToEnd(paid)
    await reader.leave()
    expect(await paid.acme.requests[0]!.aborted).toBe(true)
    const [row] = await paid.billing.waitForUsage(1)
    expect(row).toMatchObject({ status: 499, estimated: 1 })
    expect(row?.latency_ms).toBeGreaterThanOrEqual(usageTimeoutMs)
    expect(row?.cost).toBeWithin(abortedPromptCost + 5 * 10_000, maxCost + 1)
  })

  test('is charged an estimate immediately where the stream ends without a usage', async () => {
    const gate = Promise.withResolvers<void>()
    await using paid = await startBillingScenario(gated(gate.promise, doneFrame), unlimited)
    const reader = await readToEnd(paid)
    await reader.leave()
    await noticed(paid)
    gate.resolve()
    const [row] = await paid.billing.waitForUsage(1)
    expect(row).toMatchObject({ status: 499, estimated: 1 })
  })

  test('of one of two streams aborts the other immediately', async () => {
    await using paid = await startBillingScenario(gated(new Promise(() => {})), unlimited)
    const reader = await readToEnd(paid, { n: 2 })
    await reader.leave()
    const [row] = await paid.billing.waitForUsage(1)
    expect(row).toMatchObject({ status: 499, estimated: 1 })
  })
})

test('a gateway that is forced to stop does not wait for the usage of a disconnected client', async () => {
  await using paid = await startBillingScenario(gated(new Promise(() => {})))
  const reader = await readToEnd(paid)
  await reader.leave()
  await noticed(paid)
  expect(paid.app.runtime.abortCalls()).toBe(1)
  expect(await paid.billing.waitForUsage(1)).toMatchObject([{ status: 503, error: 'interrupted' }])
  await paid.billing.expectConsistent()
})
