import { describe, expect, test } from 'bun:test'
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
import { readError, readStreamed } from '../support/chat-reply.ts'
import { question } from '../support/scenario.ts'
import { breakOff, hang, json, jsonPieces, reset, type Script, silence } from '../support/script.ts'

const start = 1_000_000_000
const streamQuestion = { ...question, stream: true }
const failure = json({ error: { message: 'Down.' } }, { status: 500 })
const begun = delta({ role: 'assistant', content: 'eight ch' })
/** The two tokens of `begun` are an estimate. */
const begunCost = promptCost + 2 * 10_000

/** What the books say of the only request once it has ended. */
type Ended = { readonly status: number; readonly error?: string; readonly cost: number }

async function expectEnd({ books }: Paid, { status, error, cost }: Ended) {
  const rows = await books.settled(1)
  expect(rows.map((row) => [row.status, row.error, row.cost])).toEqual([[status, error ?? null, cost]])
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

describe('a call is charged its exact cost', () => {
  test('when it is not streamed, and the reply reports the cost', async () => {
    await using paid = await startPaid(whole())
    const reply = await paid.app.chat(question)
    expect(reply.headers.get('x-weir-cost')).toBe('0.000062000')
    // The reply is there, so the row must be: no wait here.
    expect(paid.books.account()).toEqual([start - usualCost, 0])
    await expectEnd(paid, { status: 200, cost: usualCost })
  })

  test('when it is streamed, before the stream sends [DONE]', async () => {
    await using paid = await startPaid(streamed())
    const reply = await paid.app.chat(streamQuestion)
    expect(reply.headers.get('x-weir-cost')).toBeNull()
    const reader = readPieces(reply)
    await reader.until('[DONE]')
    expect(paid.books.account()).toEqual([start - usualCost, 0])
    await expectEnd(paid, { status: 200, cost: usualCost })
  })

  test('when the second route served it', async () => {
    await using paid = await startPaid(failure, { other: [whole()] })
    expect((await paid.app.chat(question)).headers.get('x-weir-cost')).toBe('0.000062000')
    await expectEnd(paid, { status: 200, cost: usualCost })
  })

  test('from an estimate where the provider reported no usage', async () => {
    await using paid = await startPaid(whole(said({ text: ['eight ch'] }, { usage: undefined })))
    expect((await paid.app.chat(question)).headers.get('x-weir-cost')).toBe('0.000028000')
    await expectEnd(paid, { status: 200, cost: begunCost })
    expect(paid.books.rows()[0]?.estimated).toBe(1)
  })
})

describe('a call that no provider served costs nothing', () => {
  test.each<[string, Script, object, number, string]>([
    ['an error of the provider', failure, question, 502, 'upstream_unavailable'],
    ['an error before a stream', failure, streamQuestion, 502, 'upstream_unavailable'],
    ['a connection that breaks', reset, question, 502, 'upstream_unavailable'],
    [
      'a complete reply that breaks off',
      jsonPieces(['{"cho'], breakOff),
      question,
      502,
      'upstream_unavailable',
    ],
    [
      'a rejected request',
      json({ error: { message: 'No.' } }, { status: 400 }),
      question,
      400,
      'upstream_rejected',
    ],
  ])('also for %s', async (_, script, body, status, error) => {
    await using paid = await startPaid(script)
    const reply = await paid.app.chat(body)
    expect([reply.status, reply.headers.get('x-weir-cost')]).toEqual([status, null])
    expect(paid.books.account()).toEqual([start, 0])
    await expectEnd(paid, { status, error, cost: 0 })
  })
})

test('a stream that breaks is charged its prompt and the output received', async () => {
  const heard = Promise.withResolvers<void>()
  await using paid = await startPaid(chunks([begun, heard.promise], breakOff))
  const reply = await paid.app.chat(streamQuestion)
  heard.resolve()
  expect((await readStreamed(reply)).done).toBe(false)
  await expectEnd(paid, { status: 502, error: 'upstream_unavailable', cost: begunCost })
})

describe('a client that disconnects is charged', () => {
  test.each([
    ['a complete reply', question],
    ['a stream', streamQuestion],
  ])('the prompt of %s before any output', async (_, body) => {
    await using paid = await startPaid(silence)
    const leaving = new AbortController()
    const asked = paid.app.chat(body, { signal: leaving.signal })
    await paid.acme.request(0)
    expect(paid.books.account()).toEqual([start, mostCost])
    leaving.abort()
    await expect(asked).rejects.toThrow(/abort/)
    await expectLeft(paid, leftPromptCost)
  })

  test('the prompt and the output so far, in the middle of a stream', async () => {
    await using paid = await startPaid(chunks([begun], hang))
    const reader = readPieces(await paid.app.chat(streamQuestion))
    await reader.until('eight ch')
    await reader.leave()
    await expectLeft(paid, leftBegunCost)
  })

  test('the prompt where an accepted stream was opened and has sent nothing', async () => {
    await using paid = await startPaid(chunks([], hang), { patience: 5 })
    const reader = readPieces(await paid.app.chat(streamQuestion))
    await reader.until(': keep-alive')
    await reader.leave()
    await expectLeft(paid, leftPromptCost)
  })
})

describe('a client that disconnects between two attempts', () => {
  const retries = { settings: { retries: { attempts: 5 } } }
  const refused = json({ error: { message: 'Down.' } }, { status: 503, headers: { 'retry-after': '2' } })

  /** Asks, and leaves once the provider has ended its part and the gateway has gone on. */
  async function leaveBehind(paid: Paid, attempt: number): Promise<void> {
    const leaving = new AbortController()
    const asked = paid.app.chat(streamQuestion, { signal: leaving.signal })
    const { left } = await paid.acme.request(attempt)
    if (attempt === 0) await left
    for (let round = 0; round < 5; round++) await paid.app.request('/livez')
    leaving.abort()
    await expect(asked).rejects.toThrow(/abort/)
  }

  test('owes nothing where the provider has rejected the first', async () => {
    await using paid = await startPaid(refused, retries)
    await leaveBehind(paid, 0)
    await expectEnd(paid, { status: 499, error: 'client_gone', cost: 0 })
    expect(paid.books.rows()[0]).toMatchObject({ prompt_tokens: 0, estimated: 0 })
  })

  test('owes the prompt where the provider has received the second', async () => {
    await using paid = await startPaid([failure, silence], retries)
    await leaveBehind(paid, 1)
    await expectLeft(paid, leftPromptCost)
  })
})

test('calls that a shutdown aborts are charged their output so far', async () => {
  await using paid = await startPaid(chunks([begun], hang))
  const readers = await Promise.all(
    Array.from({ length: 10 }, async () => readPieces(await paid.app.chat(streamQuestion))),
  )
  await Promise.all(readers.map((reader) => reader.until('eight ch')))
  await paid.app.stop()
  const rows = paid.books.rows()
  expect(rows.map(({ status }) => status)).toEqual(readers.map(() => 499))
  for (const { cost } of rows) expect(cost).toBeWithin(leftBegunCost, mostCost + 1)
  expect(paid.books.account()).toEqual([start - rows.reduce((sum, { cost }) => sum + (cost ?? 0), 0), 0])
  paid.books.expectSound()
})

test('a cost beyond the reservation is charged in full, and nothing more is served until a credit', async () => {
  const usage = { prompt_tokens: 4000, completion_tokens: 5, total_tokens: 4005 }
  await using paid = await startPaid(whole(said({}, { usage })), { balance: '0.0011' })
  const cost = 4000 * 1000 + 5 * 10_000
  expect((await paid.app.chat(question)).headers.get('x-weir-cost')).toBe('0.004050000')
  expect(paid.books.account()).toEqual([1_100_000 - cost, 0])
  expect(paid.books.entries()).toEqual([
    ['credit', 1_100_000],
    ['charge', -cost],
  ])
  expect(paid.books.rows()[0]?.cost).toBe(cost)
  expect((await paid.app.chat({ ...question, max_tokens: 1 })).status).toBe(402)
  await paid.books.fund('default', '0.002')
  expect((await paid.app.chat({ ...question, max_tokens: 1 })).status).toBe(402)
  await paid.books.fund('default', '0.002')
  expect((await paid.app.chat({ ...question, max_tokens: 1 })).status).toBe(200)
  paid.books.expectSound()
})

test('an organization below zero is rejected also for a free model', async () => {
  const usage = { prompt_tokens: 4000, completion_tokens: 5, total_tokens: 4005 }
  const models = [
    { slug: 'acme/free', pricing: { input: 0, output: 0 }, routes: [{ provider: 'acme', model: 'free' }] },
  ]
  await using paid = await startPaid(whole(said({}, { usage })), { balance: '0.0011', models })
  const free = { ...question, model: 'acme/free' }
  expect((await paid.app.chat(free)).status).toBe(200)
  expect((await paid.app.chat(question)).status).toBe(200)
  const refused = await paid.app.chat(free)
  expect(await readError(refused)).toMatchObject({ status: 402, code: 'insufficient_balance' })
  paid.books.expectSound()
})

test('an unmetered organization sees the cost, and nothing is deducted', async () => {
  await using paid = await startPaid(whole())
  await paid.books.fund('default', '0', 'unmetered')
  expect((await paid.app.chat(question)).headers.get('x-weir-cost')).toBe('0.000062000')
  expect(paid.books.rows()[0]?.cost).toBe(usualCost)
  expect(paid.books.account()).toEqual([start, 0])
  expect(paid.books.entries()).toEqual([['credit', start]])
})
