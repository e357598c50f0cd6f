import { describe, expect, test } from 'bun:test'
import type { ResponseObject } from '../../src/api/responses/render/reply-schema.ts'
import { until } from '../reliability/money/support/books.ts'
import {
  leftBegunCost,
  leftPromptCost,
  mostCost,
  type Paid,
  promptCost,
  startPaid,
  usualCost,
} from '../reliability/money/support/paid.ts'
import { readPieces } from '../support/body-reader.ts'
import { chunks, delta, said, streamed, whole } from '../support/chat-answers.ts'
import { replayed, respond, retrieved, streamedResponse, textOf } from '../support/responses.ts'
import { hang, json, type Script, silence } from '../support/script.ts'

const start = 1_000_000_000
const failure = json({ error: { message: 'Down.' } }, { status: 500 })
const begun = delta({ role: 'assistant', content: 'eight ch' })
/** The two tokens of `begun` are an estimate. */
const begunCost = promptCost + 2 * 10_000

type Ended = { readonly status: number; readonly error?: string; readonly cost: number }

/** What the books say of the only request once it has ended. */
async function expectEnd({ books }: Paid, { status, error, cost }: Ended) {
  const rows = await books.settled(1)
  expect(rows.map((row) => [row.api, row.status, row.error, row.cost])).toEqual([
    ['responses', status, error ?? null, cost],
  ])
  expect(books.account()).toEqual([start - cost, 0])
  expect(books.entries()).toEqual([['credit', start], ...(cost > 0 ? [['charge', -cost]] : [])])
  books.expectSound()
}

/** The same of a caller who left: time in which nothing was seen may come on top, up to what was reserved. */
async function expectLeft({ books }: Paid, atLeast: number) {
  const [row] = await books.settled(1)
  expect(row).toMatchObject({ status: 499, error: 'client_gone', estimated: 1 })
  const cost = row?.cost ?? 0
  expect(cost).toBeWithin(atLeast, mostCost + 1)
  expect(books.account()).toEqual([start - cost, 0])
  expect(books.entries()).toEqual([
    ['credit', start],
    ['charge', -cost],
  ])
  books.expectSound()
}

/** How many are stored. */
function storedIn({ books }: Paid): number {
  return Number(books.sqlite.query('SELECT count(*) FROM responses').values()[0]?.[0])
}

/** Reads up to the first word, and gives the id of the response. */
async function begin({ app }: Paid, more: object = {}) {
  const reader = readPieces(await respond(app, { stream: true, ...more }))
  let text = ''
  while (!text.includes('"delta":"eight ch"')) text += await reader.next()
  return { reader, id: /resp_[0-9a-f]{32}/.exec(text)![0] }
}

describe('a response is charged its exact cost', () => {
  test('when it is not streamed, and the reply reports the cost', async () => {
    await using paid = await startPaid(whole())
    const reply = await respond(paid.app)
    expect(reply.headers.get('x-weir-cost')).toBe('0.000062000')
    expect(paid.books.account()).toEqual([start - usualCost, 0])
    await expectEnd(paid, { status: 200, cost: usualCost })
  })

  test('when it is streamed, before the terminal event, in the transaction that stores it', async () => {
    await using paid = await startPaid(streamed())
    const reader = readPieces(await respond(paid.app, { stream: true }))
    await reader.until('event: response.completed')
    expect(paid.books.account()).toEqual([start - usualCost, 0])
    expect(storedIn(paid)).toBe(1)
    await expectEnd(paid, { status: 200, cost: usualCost })
  })

  test('also where it is not stored', async () => {
    await using paid = await startPaid(whole())
    await respond(paid.app, { store: false })
    await expectEnd(paid, { status: 200, cost: usualCost })
    expect(storedIn(paid)).toBe(0)
  })

  test('from an estimate where the provider reported no usage', async () => {
    await using paid = await startPaid(whole(said({ text: ['eight ch'] }, { usage: undefined })))
    const { usage } = (await (await respond(paid.app)).json()) as ResponseObject
    expect(usage).toMatchObject({ input_tokens: 8, output_tokens: 2 })
    await expectEnd(paid, { status: 200, cost: begunCost })
  })
})

test('a response that the balance does not cover is rejected before the provider is called, and not stored', async () => {
  await using paid = await startPaid(whole(), { balance: '0.001' })
  for (const stream of [true, false]) {
    const reply = await respond(paid.app, { stream })
    expect([reply.status, reply.headers.get('retry-after')]).toEqual([402, null])
    expect(await reply.json()).toMatchObject({
      error: { type: 'insufficient_quota', code: 'insufficient_balance', param: null },
    })
  }
  expect([paid.acme.requests.length, storedIn(paid)]).toEqual([0, 0])
  expect((await respond(paid.app, { max_output_tokens: 50 })).status).toBe(200)
})

describe('a response that no provider served costs nothing and is not stored', () => {
  test.each([true, false])('(streamed: %p)', async (stream) => {
    await using paid = await startPaid(failure)
    expect((await respond(paid.app, { stream })).status).toBe(502)
    await expectEnd(paid, { status: 502, error: 'upstream_unavailable', cost: 0 })
    expect(storedIn(paid)).toBe(0)
  })
})

test('a response stream that breaks is charged its prompt and its output, and reports that usage', async () => {
  await using paid = await startPaid(chunks([begun]))
  const { last } = await streamedResponse(paid.app)
  expect(last).toMatchObject({ status: 'failed', usage: { input_tokens: 8, output_tokens: 2 } })
  await expectEnd(paid, { status: 502, error: 'upstream_unavailable', cost: begunCost })
})

describe('a client that disconnects from a response stream', () => {
  test('is charged the prompt and the output, and the response is stored so far', async () => {
    await using paid = await startPaid(chunks([begun], hang))
    const { reader, id } = await begin(paid)
    expect(paid.books.account()).toEqual([start, mostCost])
    await reader.leave()
    await expectLeft(paid, leftBegunCost)
    const response = await retrieved(paid.app, id)
    expect(response).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'cancelled' },
      output: [{ status: 'incomplete' }],
      usage: { input_tokens: 22, output_tokens: expect.any(Number) },
      completed_at: null,
      error: null,
    })
    expect(textOf(response)).toBe('eight ch')
    const { last, types } = await replayed(paid.app, id)
    expect(last).toEqual(response)
    expect(types.at(-1)).toBe('response.incomplete')
    expect(await paid.acme.requests[0]?.left).toBe(true)
    expect(paid.app.lines).toEqual([])
  })

  test('is charged alike for a response that is not stored', async () => {
    await using paid = await startPaid(chunks([begun], hang))
    const { reader } = await begin(paid, { store: false })
    await reader.leave()
    await expectLeft(paid, leftBegunCost)
    expect(storedIn(paid)).toBe(0)
  })

  test('is charged the prompt before the first token', async () => {
    await using paid = await startPaid(chunks([], hang), { patience: 5 })
    const reader = readPieces(await respond(paid.app, { stream: true }))
    await reader.until('response.in_progress')
    await reader.leave()
    await expectLeft(paid, leftPromptCost)
    expect(storedIn(paid)).toBe(1)
  })

  test.each<[string, Script, boolean]>([
    ['a complete reply', silence, false],
    ['a stream', silence, true],
  ])('is charged the prompt before %s has begun, and nothing is stored', async (_, script, stream) => {
    await using paid = await startPaid(script)
    const leaving = new AbortController()
    const asking = respond(paid.app, { stream }, { signal: leaving.signal })
    await paid.acme.request(0)
    leaving.abort()
    await expect(asking).rejects.toThrow(/abort/)
    await expectLeft(paid, leftPromptCost)
    expect(storedIn(paid)).toBe(0)
  })

  test('is charged and has its response stored, also when a hundred do so at once', async () => {
    await using paid = await startPaid(chunks([begun], hang))
    const streams = await Promise.all(Array.from({ length: 100 }, () => begin(paid)))
    await Promise.all(streams.map(({ reader }) => reader.leave()))
    await paid.books.settled(100)
    for (const { cost } of paid.books.rows()) expect(cost).toBeWithin(leftBegunCost, mostCost + 1)
    await until(() => storedIn(paid) === 100, 'a hundred stored responses')
    for (const { id } of streams)
      expect(await retrieved(paid.app, id)).toMatchObject({ status: 'incomplete' })
    paid.books.expectSound()
  })
})

test('response streams that a shutdown aborts are charged and stored', async () => {
  await using paid = await startPaid(chunks([begun], hang))
  await Promise.all(Array.from({ length: 10 }, () => begin(paid)))
  await paid.app.stop()
  for (const { cost } of paid.books.rows()) expect(cost).toBeWithin(leftBegunCost, mostCost + 1)
  expect(storedIn(paid)).toBe(10)
  paid.books.expectSound()
})
