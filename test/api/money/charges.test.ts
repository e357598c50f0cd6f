import { describe, expect, test } from 'bun:test'
import {
  abortedPartialCost,
  abortedPromptCost,
  maxCost,
  type BillingScenario,
  promptCost,
  startBillingScenario,
  replyCost,
} from '../../support/billing-scenario.ts'
import { readPieces } from '../../support/body-reader.ts'
import { chunks, delta, chatOutput, streamReply, jsonReply } from '../../support/chat-fixtures.ts'
import { readError, readStreamed } from '../../support/chat-reply.ts'
import { chatRequest } from '../../support/scenario.ts'
import { breakOff, hang, json, jsonPieces, reset, type Script, silence } from '../../support/script.ts'

const start = 1_000_000_000
const streamRequest = { ...chatRequest, stream: true }
const failure = json({ error: { message: 'Down.' } }, { status: 500 })
const opening = delta({ role: 'assistant', content: 'eight ch' })
/** The two tokens of `begun` are an estimate. */
const begunCost = promptCost + 2 * 10_000

/** What the books say of the only request once it has ended. */
type Ended = { readonly status: number; readonly error?: string; readonly cost: number }

async function expectEnd({ billing }: BillingScenario, { status, error, cost }: Ended) {
  const rows = await billing.waitForUsage(1)
  expect(rows.map((row) => [row.status, row.error, row.cost])).toEqual([[status, error ?? null, cost]])
  expect(await billing.account()).toEqual([start - cost, 0])
  expect(await billing.entries()).toEqual([['credit', start], ...(cost > 0 ? [['charge', -cost]] : [])])
  await billing.expectConsistent()
}

/** The same of a caller who left: time in which nothing was seen may come on top, up to what was reserved. */
async function expectLeft({ billing }: BillingScenario, atLeast: number) {
  const [row] = await billing.waitForUsage(1)
  expect(row).toMatchObject({ status: 499, error: 'client_gone', estimated: 1 })
  const cost = row?.cost ?? 0
  expect(cost).toBeWithin(atLeast, maxCost + 1)
  expect(await billing.account()).toEqual([start - cost, 0])
  expect(await billing.entries()).toEqual([
    ['credit', start],
    ['charge', -cost],
  ])
  await billing.expectConsistent()
}

describe('a call is charged its exact cost', () => {
  test('when it is not streamed, and the reply reports the cost', async () => {
    await using paid = await startBillingScenario(jsonReply())
    const reply = await paid.app.chat(chatRequest)
    expect(reply.headers.get('x-weir-cost')).toBe('0.000062000')
    // The reply is there, so the row must be: no wait here.
    expect(await paid.billing.account()).toEqual([start - replyCost, 0])
    await expectEnd(paid, { status: 200, cost: replyCost })
  })

  test('when it is streamed, before the stream sends [DONE]', async () => {
    await using paid = await startBillingScenario(streamReply())
    const reply = await paid.app.chat(streamRequest)
    expect(reply.headers.get('x-weir-cost')).toBeNull()
    const reader = readPieces(reply)
    await reader.until('[DONE]')
    expect(await paid.billing.account()).toEqual([start - replyCost, 0])
    await expectEnd(paid, { status: 200, cost: replyCost })
  })

  test('when the second route served it', async () => {
    await using paid = await startBillingScenario(failure, { other: [jsonReply()] })
    expect((await paid.app.chat(chatRequest)).headers.get('x-weir-cost')).toBe('0.000062000')
    await expectEnd(paid, { status: 200, cost: replyCost })
  })

  test('from an estimate where the provider reported no usage', async () => {
    await using paid = await startBillingScenario(
      jsonReply(chatOutput({ text: ['eight ch'] }, { usage: undefined })),
    )
    expect((await paid.app.chat(chatRequest)).headers.get('x-weir-cost')).toBe('0.000028000')
    await expectEnd(paid, { status: 200, cost: begunCost })
    expect((await paid.billing.usage())[0]?.estimated).toBe(1)
  })
})

describe('a call that no provider served costs nothing', () => {
  test.each<[string, Script, object, number, string]>([
    ['an error of the provider', failure, chatRequest, 502, 'upstream_unavailable'],
    ['an error before a stream', failure, streamRequest, 502, 'upstream_unavailable'],
    ['a connection that breaks', reset, chatRequest, 502, 'upstream_unavailable'],
    [
      'a complete reply that breaks off',
      jsonPieces(['{"cho'], breakOff),
      chatRequest,
      502,
      'upstream_unavailable',
    ],
    [
      'a rejected request',
      json({ error: { message: 'No.' } }, { status: 400 }),
      chatRequest,
      400,
      'upstream_rejected',
    ],
  ])('also for %s', async (_, script, body, status, error) => {
    await using paid = await startBillingScenario(script)
    const reply = await paid.app.chat(body)
    expect([reply.status, reply.headers.get('x-weir-cost')]).toEqual([status, null])
    expect(await paid.billing.account()).toEqual([start, 0])
    await expectEnd(paid, { status, error, cost: 0 })
  })
})

test('a stream that breaks is charged its prompt and the output received', async () => {
  const received = Promise.withResolvers<void>()
  await using paid = await startBillingScenario(chunks([opening, received.promise], breakOff))
  const reply = await paid.app.chat(streamRequest)
  received.resolve()
  expect((await readStreamed(reply)).done).toBe(false)
  await expectEnd(paid, { status: 502, error: 'upstream_unavailable', cost: begunCost })
})

describe('a client that disconnects is charged', () => {
  test.each([
    ['a complete reply', chatRequest],
    ['a stream', streamRequest],
  ])('the prompt of %s before any output', async (_, body) => {
    await using paid = await startBillingScenario(silence)
    const aborting = new AbortController()
    const requested = paid.app.chat(body, { signal: aborting.signal })
    await paid.acme.request(0)
    expect(await paid.billing.account()).toEqual([start, maxCost])
    aborting.abort()
    await expect(requested).rejects.toThrow(/abort/)
    await expectLeft(paid, abortedPromptCost)
  })

  test('the prompt and the output so far, in the middle of a stream', async () => {
    await using paid = await startBillingScenario(chunks([opening], hang))
    const reader = readPieces(await paid.app.chat(streamRequest))
    await reader.until('eight ch')
    await reader.leave()
    await expectLeft(paid, abortedPartialCost)
  })

  test('the prompt where an accepted stream was opened and has sent nothing', async () => {
    await using paid = await startBillingScenario(chunks([], hang), { patience: 5 })
    const reader = readPieces(await paid.app.chat(streamRequest))
    await reader.until(': keep-alive')
    await reader.leave()
    await expectLeft(paid, abortedPromptCost)
  })
})

describe('a client that disconnects between two attempts', () => {
  const retries = { settings: { retries: { attempts: 5 } } }
  const refused = json({ error: { message: 'Down.' } }, { status: 503, headers: { 'retry-after': '2' } })

  /** Asks, and leaves once the provider has ended its part and the gateway has gone on. */
  async function leaveBehind(paid: BillingScenario, attempt: number): Promise<void> {
    const aborting = new AbortController()
    const requested = paid.app.chat(streamRequest, { signal: aborting.signal })
    const { aborted: left } = await paid.acme.request(attempt)
    if (attempt === 0) await left
    for (let round = 0; round < 5; round++) await paid.app.request('/livez')
    aborting.abort()
    await expect(requested).rejects.toThrow(/abort/)
  }

  test('owes nothing where the provider has rejected the first', async () => {
    await using paid = await startBillingScenario(refused, retries)
    await leaveBehind(paid, 0)
    await expectEnd(paid, { status: 499, error: 'client_gone', cost: 0 })
    expect((await paid.billing.usage())[0]).toMatchObject({ prompt_tokens: 0, estimated: 0 })
  })

  test('owes the prompt where the provider has received the second', async () => {
    await using paid = await startBillingScenario([failure, silence], retries)
    await leaveBehind(paid, 1)
    await expectLeft(paid, abortedPromptCost)
  })
})

test('calls that a shutdown aborts are charged their output so far', async () => {
  await using paid = await startBillingScenario(chunks([opening], hang))
  const readers = await Promise.all(
    Array.from({ length: 10 }, async () => readPieces(await paid.app.chat(streamRequest))),
  )
  await Promise.all(readers.map((reader) => reader.until('eight ch')))
  await paid.app.stop()
  const rows = await paid.billing.usage()
  expect(rows.map(({ status }) => status)).toEqual(readers.map(() => 499))
  for (const { cost } of rows) expect(cost).toBeWithin(abortedPartialCost, maxCost + 1)
  expect(await paid.billing.account()).toEqual([
    start - rows.reduce((sum, { cost }) => sum + (cost ?? 0), 0),
    0,
  ])
  await paid.billing.expectConsistent()
})

test('a cost beyond the reservation is charged in full, and nothing more is served until a credit', async () => {
  const usage = { prompt_tokens: 4000, completion_tokens: 5, total_tokens: 4005 }
  await using paid = await startBillingScenario(jsonReply(chatOutput({}, { usage })), { balance: '0.0011' })
  const cost = 4000 * 1000 + 5 * 10_000
  expect((await paid.app.chat(chatRequest)).headers.get('x-weir-cost')).toBe('0.004050000')
  expect(await paid.billing.account()).toEqual([1_100_000 - cost, 0])
  expect(await paid.billing.entries()).toEqual([
    ['credit', 1_100_000],
    ['charge', -cost],
  ])
  expect((await paid.billing.usage())[0]?.cost).toBe(cost)
  expect((await paid.app.chat({ ...chatRequest, max_tokens: 1 })).status).toBe(402)
  await paid.billing.fund('default', '0.002')
  expect((await paid.app.chat({ ...chatRequest, max_tokens: 1 })).status).toBe(402)
  await paid.billing.fund('default', '0.002')
  expect((await paid.app.chat({ ...chatRequest, max_tokens: 1 })).status).toBe(200)
  await paid.billing.expectConsistent()
})

test('an organization below zero is rejected also for a free model', async () => {
  const usage = { prompt_tokens: 4000, completion_tokens: 5, total_tokens: 4005 }
  const models = [
    { slug: 'acme/free', pricing: { input: 0, output: 0 }, routes: [{ provider: 'acme', model: 'free' }] },
  ]
  await using paid = await startBillingScenario(jsonReply(chatOutput({}, { usage })), {
    balance: '0.0011',
    models,
  })
  const free = { ...chatRequest, model: 'acme/free' }
  expect((await paid.app.chat(free)).status).toBe(200)
  expect((await paid.app.chat(chatRequest)).status).toBe(200)
  const refused = await paid.app.chat(free)
  expect(await readError(refused)).toMatchObject({ status: 402, code: 'insufficient_balance' })
  await paid.billing.expectConsistent()
})

test('an unmetered organization sees the cost, and nothing is deducted', async () => {
  await using paid = await startBillingScenario(jsonReply())
  await paid.billing.fund('default', '0', 'unmetered')
  expect((await paid.app.chat(chatRequest)).headers.get('x-weir-cost')).toBe('0.000062000')
  expect((await paid.billing.waitForUsage(1))[0]?.cost).toBe(replyCost)
  expect(await paid.billing.account()).toEqual([start, 0])
  expect(await paid.billing.entries()).toEqual([['credit', start]])
})
