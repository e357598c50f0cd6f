import { describe, expect, test } from 'bun:test'
import { maxCost, maxPromptCost, startBillingScenario, replyCost } from '../../support/billing-scenario.ts'
import {
  cancelledRun,
  gatedReply,
  queueRunRequest,
  queueRun,
  waitForRun,
  startRun,
} from '../../support/background.ts'
import { chatOutput, streamReply } from '../../support/chat-fixtures.ts'
import { readError } from '../../support/chat-reply.ts'
import { postResponse } from '../../support/responses.ts'
import { silence } from '../../support/script.ts'

const start = 1e9
const oneAtATime = { settings: { background: { concurrency: 1 } } }
const run = { background: true }

test('the maximum cost of a run is reserved when it is created, and stays reserved while it is queued', async () => {
  const gate = Promise.withResolvers<void>()
  await using paid = await startBillingScenario([gatedReply(gate.promise), streamReply()], oneAtATime)
  await startRun(paid)
  const waiting = await queueRunRequest(paid.app)
  const small = await queueRunRequest(paid.app, { max_output_tokens: 10 })
  expect(await paid.billing.account()).toEqual([start, 2 * maxCost + maxPromptCost + 10 * 10_000])
  expect(await paid.billing.openReservations()).toBe(3)
  await paid.billing.expectConsistent()
  gate.resolve()
  for (const { id } of [waiting, small]) expect((await waitForRun(paid.app, id)).status).toBe('completed')
  await paid.billing.waitForUsage(3)
  expect(await paid.billing.account()).toEqual([start - 3 * replyCost, 0])
  for (const { request } of [waiting, small])
    expect(await paid.billing.entriesOf(request)).toEqual({ charge: -replyCost })
  await paid.billing.expectConsistent()
})

test('a run that the balance does not cover is rejected with 402 immediately, and earlier runs continue', async () => {
  const gate = Promise.withResolvers<void>()
  // Enough for two of them, and not for three.
  await using paid = await startBillingScenario([gatedReply(gate.promise), streamReply()], {
    balance: '0.0025',
    settings: { background: { concurrency: 1 } },
  })
  await startRun(paid)
  const { id } = await queueRun(paid.app)
  const refused = await postResponse(paid.app, run)
  expect(await readError(refused)).toMatchObject({
    status: 402,
    type: 'insufficient_quota',
    code: 'insufficient_balance',
  })
  expect(await paid.billing.values('SELECT count(*) FROM responses')).toEqual([[2]])
  expect(await paid.billing.account()).toEqual([2_500_000, 2 * maxCost])
  gate.resolve()
  await waitForRun(paid.app, id)
  // What they did not take is free again.
  expect((await postResponse(paid.app, run)).status).toBe(200)
  await paid.billing.waitForUsage(4)
  expect(await paid.billing.account()).toEqual([2_500_000 - 3 * replyCost, 0])
  await paid.billing.expectConsistent()
})

test('a run that costs more than its reservation is charged in full, below zero', async () => {
  const usage = { prompt_tokens: 6000, completion_tokens: 90, total_tokens: 6090 }
  await using paid = await startBillingScenario(streamReply(chatOutput({}, { usage })), { balance: '0.0015' })
  const { id, request } = await queueRunRequest(paid.app)
  expect((await waitForRun(paid.app, id)).status).toBe('completed')
  await paid.billing.waitForUsage(1)
  const cost = 6000 * 1000 + 90 * 10_000
  expect(await paid.billing.entriesOf(request)).toEqual({ charge: -cost })
  expect(await paid.billing.account()).toEqual([1_500_000 - cost, 0])
  expect((await postResponse(paid.app, run)).status).toBe(402)
  await paid.billing.expectConsistent()
})

describe('a background run is rejected before anything is stored', () => {
  test('when its organization has no billing, or its model has no price', async () => {
    await using paid = await startBillingScenario(streamReply(), { model: { pricing: undefined } })
    expect(await readError(await postResponse(paid.app, run))).toMatchObject({
      status: 402,
      code: 'billing_not_configured',
    })
    await paid.billing.fund('none', '0', 'none')
    const headers = { authorization: `Bearer ${await paid.billing.keyOf('none')}` }
    expect(await readError(await postResponse(paid.app, run, { headers }))).toMatchObject({
      status: 402,
      code: 'billing_not_configured',
    })
    expect(await paid.billing.values('SELECT count(*) FROM responses')).toEqual([[0]])
  })

  test('when a request or token limit is exceeded; a rejection for another reason refunds its tokens', async () => {
    await using paid = await startBillingScenario(silence, {
      balance: '0.0011',
      settings: { limits: { tokens_per_minute: 20, requests_per_minute: 4 } },
      clock: () => 0,
    })
    const tokensLeft = ({ headers }: Response) => headers.get('x-ratelimit-remaining-tokens')
    await queueRun(paid.app)
    for (let count = 0; count < 2; count++) expect((await postResponse(paid.app, run)).status).toBe(402)
    const models = await paid.app.request('/v1/models')
    expect(tokensLeft(models)).toBe('12')
    expect((await postResponse(paid.app, run)).status).toBe(429)
    expect(await paid.billing.values('SELECT count(*) FROM responses')).toEqual([[1]])
  })

  test('when its prompt exceeds the tokens per minute', async () => {
    await using paid = await startBillingScenario(silence, {
      settings: { limits: { tokens_per_minute: 20 } },
      clock: () => 0,
    })
    const { id } = await queueRun(paid.app)
    await queueRun(paid.app)
    const refused = await postResponse(paid.app, run)
    expect(refused.status).toBe(429)
    expect(await refused.text()).toContain('tokens per minute')
    expect(await paid.billing.account()).toEqual([start, 2 * maxCost])
    expect(refused.headers.get('x-ratelimit-remaining-tokens')).toBe('4')
    await paid.acme.request(0)
    // What the provider may have taken until then is debited, which is more than was estimated.
    await cancelledRun(paid.app, id)
    expect((await paid.app.request('/v1/models')).headers.get('x-ratelimit-remaining-tokens')).toBe('0')
  })
})

test('a queued run that is cancelled refunds its tokens', async () => {
  await using paid = await startBillingScenario(silence, {
    settings: { limits: { tokens_per_minute: 100 }, background: { concurrency: 1 } },
    clock: () => 0,
  })
  await queueRun(paid.app)
  const { id } = await queueRun(paid.app)
  const remaining = async () =>
    (await paid.app.request('/v1/models')).headers.get('x-ratelimit-remaining-tokens')
  expect(await remaining()).toBe('84')
  await cancelledRun(paid.app, id)
  expect(await remaining()).toBe('92')
})
