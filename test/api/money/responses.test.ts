import { describe, expect, test } from 'bun:test'
import type { ResponseObject } from '../../../src/api/responses/render/reply-schema.ts'
import { waitUntil } from '../../support/billing-database.ts'
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
import {
  replayResponse,
  postResponse,
  retrieveResponse,
  streamResponse,
  textOf,
} from '../../support/responses.ts'
import { hang, json, type Script, silence } from '../../support/script.ts'

const start = 1_000_000_000
const failure = json({ error: { message: 'Down.' } }, { status: 500 })
const opening = delta({ role: 'assistant', content: 'eight ch' })
/** The two tokens of `begun` are an estimate. */
const begunCost = promptCost + 2 * 10_000

type Ended = { readonly status: number; readonly error?: string; readonly cost: number }

/** What the books say of the only request once it has ended. */
async function expectEnd({ billing }: BillingScenario, { status, error, cost }: Ended) {
  const rows = await billing.waitForUsage(1)
  expect(rows.map((row) => [row.api, row.status, row.error, row.cost])).toEqual([
    ['responses', status, error ?? null, cost],
  ])
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

/** How many are stored. */
async function storedIn({ billing }: BillingScenario): Promise<number> {
  return Number((await billing.values('SELECT count(*) FROM responses'))[0]?.[0])
}

/** Reads up to the first word, and gives the id of the response. */
async function begin({ app }: BillingScenario, more: object = {}) {
  const reader = readPieces(await postResponse(app, { stream: true, ...more }))
  const text = await reader.until('"delta":"eight ch"')
  return { reader, id: /resp_[0-9a-f]{32}/.exec(text)![0] }
}

describe('a response is charged its exact cost', () => {
  test('when it is not streamed, and the reply reports the cost', async () => {
    await using paid = await startBillingScenario(jsonReply())
    const reply = await postResponse(paid.app)
    expect(reply.headers.get('x-weir-cost')).toBe('0.000062000')
    expect(await paid.billing.account()).toEqual([start - replyCost, 0])
    await expectEnd(paid, { status: 200, cost: replyCost })
  })

  test('when it is streamed, before the terminal event, in the transaction that stores it', async () => {
    await using paid = await startBillingScenario(streamReply())
    const reader = readPieces(await postResponse(paid.app, { stream: true }))
    await reader.until('event: response.completed')
    expect(await paid.billing.account()).toEqual([start - replyCost, 0])
    expect(await storedIn(paid)).toBe(1)
    await expectEnd(paid, { status: 200, cost: replyCost })
  })

  test('also where it is not stored', async () => {
    await using paid = await startBillingScenario(jsonReply())
    await postResponse(paid.app, { store: false })
    await expectEnd(paid, { status: 200, cost: replyCost })
    expect(await storedIn(paid)).toBe(0)
  })

  test('from an estimate where the provider reported no usage', async () => {
    await using paid = await startBillingScenario(
      jsonReply(chatOutput({ text: ['eight ch'] }, { usage: undefined })),
    )
    const { usage } = (await (await postResponse(paid.app)).json()) as ResponseObject
    expect(usage).toMatchObject({ input_tokens: 8, output_tokens: 2 })
    await expectEnd(paid, { status: 200, cost: begunCost })
  })
})

test('a response that the balance does not cover is rejected before the provider is called, and not stored', async () => {
  await using paid = await startBillingScenario(jsonReply(), { balance: '0.001' })
  for (const stream of [true, false]) {
    const reply = await postResponse(paid.app, { stream })
    expect([reply.status, reply.headers.get('retry-after')]).toEqual([402, null])
    expect(await reply.json()).toMatchObject({
      error: { type: 'insufficient_quota', code: 'insufficient_balance', param: null },
    })
  }
  expect([paid.acme.requests.length, await storedIn(paid)]).toEqual([0, 0])
  expect((await postResponse(paid.app, { max_output_tokens: 50 })).status).toBe(200)
})

describe('a response that no provider served costs nothing and is not stored', () => {
  test.each([true, false])('(streamed: %p)', async (stream) => {
    await using paid = await startBillingScenario(failure)
    expect((await postResponse(paid.app, { stream })).status).toBe(502)
    await expectEnd(paid, { status: 502, error: 'upstream_unavailable', cost: 0 })
    expect(await storedIn(paid)).toBe(0)
  })
})

test('a response stream that breaks is charged its prompt and its output, and reports that usage', async () => {
  await using paid = await startBillingScenario(chunks([opening]))
  const { last } = await streamResponse(paid.app)
  expect(last).toMatchObject({ status: 'failed', usage: { input_tokens: 8, output_tokens: 2 } })
  await expectEnd(paid, { status: 502, error: 'upstream_unavailable', cost: begunCost })
})

describe('a client that disconnects from a response stream', () => {
  test('is charged the prompt and the output, and the response is stored so far', async () => {
    await using paid = await startBillingScenario(chunks([opening], hang))
    const { reader, id } = await begin(paid)
    expect(await paid.billing.account()).toEqual([start, maxCost])
    await reader.leave()
    await expectLeft(paid, abortedPartialCost)
    const response = await retrieveResponse(paid.app, id)
    expect(response).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'cancelled' },
      output: [{ status: 'incomplete' }],
      usage: { input_tokens: 22, output_tokens: expect.any(Number) },
      completed_at: null,
      error: null,
    })
    expect(textOf(response)).toBe('eight ch')
    const { last, types } = await replayResponse(paid.app, id)
    expect(last).toEqual(response)
    expect(types.at(-1)).toBe('response.incomplete')
    expect(await paid.acme.requests[0]?.aborted).toBe(true)
    expect(paid.app.lines).toEqual([])
  })

  test('is charged alike for a response that is not stored', async () => {
    await using paid = await startBillingScenario(chunks([opening], hang))
    const { reader } = await begin(paid, { store: false })
    await reader.leave()
    await expectLeft(paid, abortedPartialCost)
    expect(await storedIn(paid)).toBe(0)
  })

  test('is charged the prompt before the first token', async () => {
    await using paid = await startBillingScenario(chunks([], hang), { patience: 5 })
    const reader = readPieces(await postResponse(paid.app, { stream: true }))
    await reader.until('response.in_progress')
    await reader.leave()
    await expectLeft(paid, abortedPromptCost)
    expect(await storedIn(paid)).toBe(1)
  })

  test.each<[string, Script, boolean]>([
    ['a complete reply', silence, false],
    ['a stream', silence, true],
  ])('is charged the prompt before %s has begun, and nothing is stored', async (_, script, stream) => {
    await using paid = await startBillingScenario(script)
    const aborting = new AbortController()
    const requesting = postResponse(paid.app, { stream }, { signal: aborting.signal })
    await paid.acme.request(0)
    aborting.abort()
    await expect(requesting).rejects.toThrow(/abort/)
    await expectLeft(paid, abortedPromptCost)
    expect(await storedIn(paid)).toBe(0)
  })

  test('is charged and has its response stored, also when a hundred do so at once', async () => {
    await using paid = await startBillingScenario(chunks([opening], hang))
    const streams = await Promise.all(Array.from({ length: 100 }, () => begin(paid)))
    await Promise.all(streams.map(({ reader }) => reader.leave()))
    await paid.billing.waitForUsage(100)
    for (const { cost } of await paid.billing.usage())
      expect(cost).toBeWithin(abortedPartialCost, maxCost + 1)
    await waitUntil(async () => (await storedIn(paid)) === 100, 'a hundred stored responses')
    for (const { id } of streams)
      expect(await retrieveResponse(paid.app, id)).toMatchObject({ status: 'incomplete' })
    await paid.billing.expectConsistent()
  })
})

test('response streams that a shutdown aborts are charged and stored', async () => {
  await using paid = await startBillingScenario(chunks([opening], hang))
  await Promise.all(Array.from({ length: 10 }, () => begin(paid)))
  await paid.app.stop()
  for (const { cost } of await paid.billing.usage()) expect(cost).toBeWithin(abortedPartialCost, maxCost + 1)
  expect(await storedIn(paid)).toBe(10)
  await paid.billing.expectConsistent()
})
