import { describe, expect, test } from 'bun:test'
import { mostCost, mostPromptCost, startPaid, usualCost } from '../reliability/money/support/paid.ts'
import { cancelled, gatedAnswer, queueRequest, queueRun, runOver, startedRun } from '../support/background.ts'
import { said, streamed } from '../support/chat-answers.ts'
import { readError } from '../support/chat-reply.ts'
import { respond } from '../support/responses.ts'
import { silence } from '../support/script.ts'

const start = 1e9
const oneAtATime = { settings: { background: { concurrency: 1 } } }
const run = { background: true }

test('the maximum cost of a run is reserved when it is created, and stays reserved while it is queued', async () => {
  const gate = Promise.withResolvers<void>()
  await using paid = await startPaid([gatedAnswer(gate.promise), streamed()], oneAtATime)
  await startedRun(paid)
  const waiting = await queueRequest(paid.app)
  const small = await queueRequest(paid.app, { max_output_tokens: 10 })
  expect(paid.books.account()).toEqual([start, 2 * mostCost + mostPromptCost + 10 * 10_000])
  expect(paid.books.open()).toBe(3)
  paid.books.expectSound()
  gate.resolve()
  for (const { id } of [waiting, small]) expect((await runOver(paid.app, id)).status).toBe('completed')
  await paid.books.settled(3)
  expect(paid.books.account()).toEqual([start - 3 * usualCost, 0])
  for (const { request } of [waiting, small])
    expect(paid.books.entriesOf(request)).toEqual({ charge: -usualCost })
  paid.books.expectSound()
})

test('a run that the balance does not cover is rejected with 402 immediately, and earlier runs continue', async () => {
  const gate = Promise.withResolvers<void>()
  // Enough for two of them, and not for three.
  await using paid = await startPaid([gatedAnswer(gate.promise), streamed()], {
    balance: '0.0025',
    settings: { background: { concurrency: 1 } },
  })
  await startedRun(paid)
  const { id } = await queueRun(paid.app)
  const refused = await respond(paid.app, run)
  expect(await readError(refused)).toMatchObject({
    status: 402,
    type: 'insufficient_quota',
    code: 'insufficient_balance',
  })
  expect(paid.books.sqlite.query('SELECT count(*) FROM responses').values()).toEqual([[2]])
  expect(paid.books.account()).toEqual([2_500_000, 2 * mostCost])
  gate.resolve()
  await runOver(paid.app, id)
  // What they did not take is free again.
  expect((await respond(paid.app, run)).status).toBe(200)
  await paid.books.settled(4)
  expect(paid.books.account()).toEqual([2_500_000 - 3 * usualCost, 0])
  paid.books.expectSound()
})

test('a run that costs more than its reservation is charged in full, below zero', async () => {
  const usage = { prompt_tokens: 6000, completion_tokens: 90, total_tokens: 6090 }
  await using paid = await startPaid(streamed(said({}, { usage })), { balance: '0.0015' })
  const { id, request } = await queueRequest(paid.app)
  expect((await runOver(paid.app, id)).status).toBe('completed')
  await paid.books.settled(1)
  const cost = 6000 * 1000 + 90 * 10_000
  expect(paid.books.entriesOf(request)).toEqual({ charge: -cost })
  expect(paid.books.account()).toEqual([1_500_000 - cost, 0])
  expect((await respond(paid.app, run)).status).toBe(402)
  paid.books.expectSound()
})

describe('a background run is rejected before anything is stored', () => {
  test('when its organization has no billing, or its model has no price', async () => {
    await using paid = await startPaid(streamed(), { model: { pricing: undefined } })
    expect(await readError(await respond(paid.app, run))).toMatchObject({
      status: 402,
      code: 'billing_not_configured',
    })
    await paid.books.fund('none', '0', 'none')
    const headers = { authorization: `Bearer ${await paid.books.keyOf('none')}` }
    expect(await readError(await respond(paid.app, run, { headers }))).toMatchObject({
      status: 402,
      code: 'billing_not_configured',
    })
    expect(paid.books.sqlite.query('SELECT count(*) FROM responses').values()).toEqual([[0]])
  })

  test('when a request or token limit is exceeded; a rejection for another reason refunds its tokens', async () => {
    await using paid = await startPaid(silence, {
      balance: '0.0011',
      settings: { limits: { tokens_per_minute: 20, requests_per_minute: 4 } },
      clock: () => 0,
    })
    const tokensLeft = ({ headers }: Response) => headers.get('x-ratelimit-remaining-tokens')
    await queueRun(paid.app)
    for (let count = 0; count < 2; count++) expect((await respond(paid.app, run)).status).toBe(402)
    const models = await paid.app.request('/v1/models')
    expect(tokensLeft(models)).toBe('12')
    expect((await respond(paid.app, run)).status).toBe(429)
    expect(paid.books.sqlite.query('SELECT count(*) FROM responses').values()).toEqual([[1]])
  })

  test('when its prompt exceeds the tokens per minute', async () => {
    await using paid = await startPaid(silence, {
      settings: { limits: { tokens_per_minute: 20 } },
      clock: () => 0,
    })
    const { id } = await queueRun(paid.app)
    await queueRun(paid.app)
    const refused = await respond(paid.app, run)
    expect(refused.status).toBe(429)
    expect(await refused.text()).toContain('tokens per minute')
    expect(paid.books.account()).toEqual([start, 2 * mostCost])
    expect(refused.headers.get('x-ratelimit-remaining-tokens')).toBe('4')
    // What the provider may have taken until then is debited, which is more than was estimated.
    await cancelled(paid.app, id)
    expect((await paid.app.request('/v1/models')).headers.get('x-ratelimit-remaining-tokens')).toBe('0')
  })
})

test('a queued run that is cancelled refunds its tokens', async () => {
  await using paid = await startPaid(silence, {
    settings: { limits: { tokens_per_minute: 100 }, background: { concurrency: 1 } },
    clock: () => 0,
  })
  await queueRun(paid.app)
  const { id } = await queueRun(paid.app)
  const remaining = async () =>
    (await paid.app.request('/v1/models')).headers.get('x-ratelimit-remaining-tokens')
  expect(await remaining()).toBe('84')
  await cancelled(paid.app, id)
  expect(await remaining()).toBe('92')
})
