import { describe, expect, test } from 'bun:test'
import {
  leftPromptCost,
  mostCost,
  type Paid,
  startPaid,
  usualCost,
} from '../reliability/money/support/paid.ts'
import { readPieces } from '../support/body-reader.ts'
import { chunks, delta, doneFrame, usage } from '../support/chat-answers.ts'
import { respond } from '../support/responses.ts'
import { question } from '../support/scenario.ts'
import { hang, type Piece } from '../support/script.ts'

const streamQuestion = { ...question, stream: true }
const said = [delta({ role: 'assistant', content: 'It is ' }), delta({ content: 'four' })]
const usageChunk = { choices: [], usage }

/** An answer whose end has come, and whose usage waits for the gate. */
function gated(gate: Promise<unknown>, ...rest: (object | Piece)[]) {
  return chunks([...said, delta({ content: ' metres.' }, 'stop'), gate, ...rest], hang)
}

/** Reads the last words, with which the gateway has read the end. */
async function readToEnd(paid: Paid, body: object = {}) {
  const reader = readPieces(await paid.app.chat({ ...streamQuestion, ...body }))
  await reader.until(' metres.')
  return reader
}

/** Resolves when the gateway has noticed who left before: what it is asked now comes behind that. */
async function noticed({ app }: Paid): Promise<void> {
  for (let round = 0; round < 5; round++) await app.request('/livez')
}

describe('a client that disconnects between the end of the output and its usage', () => {
  test('is charged the usage of the provider once that arrives, and then the upstream call is aborted', async () => {
    const gate = Promise.withResolvers<void>()
    await using paid = await startPaid(gated(gate.promise, usageChunk))
    const reader = await readToEnd(paid)
    await reader.leave()
    await noticed(paid)
    expect(paid.books.rows()).toEqual([])
    expect(paid.books.account()).toEqual([1e9, mostCost])
    gate.resolve()
    const [row] = await paid.books.settled(1)
    expect(row).toMatchObject({ status: 499, error: 'client_gone', cost: usualCost, estimated: 0 })
    expect(await paid.acme.requests[0]!.left).toBe(true)
    expect(paid.app.lines).toEqual([])
    paid.books.expectSound()
  })

  test('of a response is charged in the same way', async () => {
    const gate = Promise.withResolvers<void>()
    await using paid = await startPaid(gated(gate.promise, usageChunk))
    const reader = readPieces(await respond(paid.app, { stream: true }))
    await reader.until(' metres.')
    await reader.leave()
    gate.resolve()
    const [row] = await paid.books.settled(1)
    expect(row).toMatchObject({ status: 499, cost: usualCost, estimated: 0 })
  })

  test('is awaited by a gateway that drains, and its call stays open until then', async () => {
    const gate = Promise.withResolvers<void>()
    await using paid = await startPaid(gated(gate.promise, usageChunk), {
      settings: { limits: { concurrent_requests: 1 } },
    })
    const reader = await readToEnd(paid)
    await reader.leave()
    await noticed(paid)
    expect((await paid.app.chat(question)).status).toBe(429)
    const { runtime } = paid.app
    runtime.drain()
    let drained = false
    const over = runtime.drained().then(() => (drained = true))
    await noticed(paid)
    expect(drained).toBe(false)
    gate.resolve()
    await over
    await paid.books.settled(2)
    expect(paid.books.rows().find(({ status }) => status === 499)).toMatchObject({ cost: usualCost })
  })

  test('is charged an estimate where no usage arrives within five seconds', async () => {
    await using paid = await startPaid(gated(new Promise(() => {})))
    const reader = await readToEnd(paid)
    await reader.leave()
    expect(await paid.acme.requests[0]!.left).toBe(true)
    const [row] = await paid.books.settled(1)
    expect(row).toMatchObject({ status: 499, estimated: 1 })
    expect(row?.latency_ms).toBeGreaterThanOrEqual(5000)
    expect(row?.cost).toBeWithin(leftPromptCost + 5 * 10_000, mostCost + 1)
  }, 20_000)

  test('is charged an estimate immediately where the stream ends without a usage', async () => {
    const gate = Promise.withResolvers<void>()
    await using paid = await startPaid(gated(gate.promise, doneFrame))
    const reader = await readToEnd(paid)
    await reader.leave()
    await noticed(paid)
    gate.resolve()
    const [row] = await paid.books.settled(1)
    expect(row).toMatchObject({ status: 499, estimated: 1 })
    expect(row?.latency_ms).toBeLessThan(5000)
  })

  test('of one of two streams aborts the other immediately', async () => {
    await using paid = await startPaid(gated(new Promise(() => {})))
    const reader = await readToEnd(paid, { n: 2 })
    await reader.leave()
    const [row] = await paid.books.settled(1)
    expect(row).toMatchObject({ status: 499, estimated: 1 })
    expect(row?.latency_ms).toBeLessThan(5000)
  })
})

test('a gateway that is forced to stop does not wait for the usage of a disconnected client', async () => {
  await using paid = await startPaid(gated(new Promise(() => {})))
  const reader = await readToEnd(paid)
  await reader.leave()
  await noticed(paid)
  expect(paid.app.runtime.abortCalls()).toBe(1)
  expect(await paid.books.settled(1)).toMatchObject([{ status: 503, error: 'interrupted' }])
  paid.books.expectSound()
})
