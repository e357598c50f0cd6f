import { describe, expect, test } from 'bun:test'
import type { Pricing } from '../../../src/config/model-details.ts'
import {
  maxCost,
  maxPromptCost,
  type BillingScenario,
  startBillingScenario,
  replyCost,
} from '../../support/billing-scenario.ts'
import { chunks, delta, doneFrame, streamReply, jsonReply } from '../../support/chat-fixtures.ts'
import { readError } from '../../support/chat-reply.ts'
import { openConnection } from '../../support/connection.ts'
import { chatRequest } from '../../support/scenario.ts'

/** As an amount of `weir orgs credit`. */
function usd(nanos: number): string {
  return (nanos / 1e9).toFixed(9)
}

/** The reply is the 402 of this code, nobody was asked, nothing is reserved, and one row says so. */
async function expectRefused(
  { acme, billing }: BillingScenario,
  reply: Response,
  code: string,
  words: string,
) {
  expect(reply.headers.get('content-type')).toContain('application/json')
  for (const header of ['retry-after', 'retry-after-ms', 'x-weir-cost'])
    expect([header, reply.headers.get(header)]).toEqual([header, null])
  const error = await readError(reply)
  expect(error).toMatchObject({ status: 402, type: 'insufficient_quota', code, param: null })
  expect(error.message).toContain(words)
  expect(acme.requests).toEqual([])
  expect([await billing.openReservations(), (await billing.account())[1]]).toEqual([0, 0])
  const row = await billing.usageOf(reply.headers.get('x-request-id') ?? '')
  expect(row).toMatchObject({ status: 402, error: code, model: 'acme/river', provider: null })
  expect(row).toMatchObject({ prompt_tokens: 0, completion_tokens: 0, first_token_ms: null })
  expect(row?.cost ?? 0).toBe(0)
  await billing.expectConsistent()
}

describe.each([
  ['not streamed', {}],
  ['streamed', { stream: true }],
])('an organization is rejected before the first token (%s)', (_, more) => {
  test('when its balance does not cover the maximum cost of the call', async () => {
    await using paid = await startBillingScenario(jsonReply(), { balance: usd(maxCost - 1) })
    const reply = await paid.app.chat({ ...chatRequest, ...more })
    await expectRefused(paid, reply, 'insufficient_balance', 'may cost up to 0.001087 USD')
  })

  test('when it has no billing', async () => {
    await using paid = await startBillingScenario(jsonReply())
    await paid.billing.fund('default', '0', 'none')
    const reply = await paid.app.chat({ ...chatRequest, ...more })
    await expectRefused(paid, reply, 'billing_not_configured', 'Billing is not configured')
  })

  test.each([
    ['a price', undefined],
    ['any price in its pricing', {}],
    ['an output price', { input: 1 }],
    ['an input price', { output: 1, cache_read: 1 }],
  ])('when it is prepaid and the model is without %s', async (_, pricing) => {
    await using paid = await startBillingScenario(jsonReply(), { model: { pricing } })
    const reply = await paid.app.chat({ ...chatRequest, ...more })
    await expectRefused(paid, reply, 'billing_not_configured', 'The model acme/river has no price')
  })
})

test('an exact balance is sufficient, and a smaller max_tokens reserves less', async () => {
  await using paid = await startBillingScenario(jsonReply(), { balance: usd(maxPromptCost + 5 * 10_000) })
  expect((await paid.app.chat({ ...chatRequest, max_tokens: 6 })).status).toBe(402)
  expect((await paid.app.chat({ ...chatRequest, max_tokens: 5, n: 2 })).status).toBe(402)
  expect((await paid.app.chat({ ...chatRequest, max_tokens: 5 })).status).toBe(200)
  expect(await paid.billing.account()).toEqual([maxPromptCost + 5 * 10_000 - replyCost, 0])
  expect((await paid.billing.entries()).slice(1)).toEqual([['charge', -replyCost]])
  await paid.billing.expectConsistent()
})

test('a model without a price serves unmetered organizations, and the reply reports no cost', async () => {
  await using paid = await startBillingScenario(jsonReply(), { model: { pricing: undefined } })
  await paid.billing.fund('default', '0', 'unmetered')
  const reply = await paid.app.chat(chatRequest)
  expect([reply.status, reply.headers.get('x-weir-cost')]).toEqual([200, null])
  expect((await paid.billing.waitForUsage(1))[0]).toMatchObject({
    status: 200,
    cost: null,
    prompt_tokens: 12,
  })
})

test.each<[string, Pricing, string]>([
  ['nothing', { input: 0, output: 0 }, '0.000000000'],
  ['so much a request and no more', { request: 0.001 }, '0.001000000'],
])('a model whose price is %s can be paid for', async (_, pricing, cost) => {
  await using paid = await startBillingScenario(jsonReply(), { model: { pricing }, balance: '0.001' })
  expect((await paid.app.chat(chatRequest)).headers.get('x-weir-cost')).toBe(cost)
  await paid.billing.expectConsistent()
})

test('an invalid request and an unknown model are reported as such, also without a balance', async () => {
  await using paid = await startBillingScenario(jsonReply(), { balance: '0' })
  expect((await paid.app.chat({ ...chatRequest, temperature: 9 })).status).toBe(400)
  expect((await paid.app.chat({ ...chatRequest, model: 'acme/sea' })).status).toBe(404)
  expect((await paid.app.chat(chatRequest)).status).toBe(402)
  expect((await paid.app.request('/v1/models')).status).toBe(200)
})

test('of 500 concurrent requests exactly those pass that the balance covers, and it ends where they leave it', async () => {
  const held = 37
  const replied = Promise.withResolvers<void>()
  const providerReply = chunks([
    delta({ role: 'assistant', content: 'It is ' }),
    replied.promise,
    delta({}, 'stop'),
    { choices: [], usage: { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 } },
    doneFrame,
  ])
  const balance = held * maxCost + maxCost - 1
  await using paid = await startBillingScenario(providerReply, { balance: usd(balance) })
  const clients = await Promise.all(Array.from({ length: 500 }, () => openConnection(paid.app.url)))
  for (const client of clients) client.post({ ...chatRequest, stream: true })
  const replies = await Promise.all(clients.map((client) => client.until('\r\n\r\n')))
  const statuses = replies.map((text) => text.slice(9, 12))
  expect(Object.groupBy(statuses, (status) => status)['200']?.length).toBe(held)
  expect(Object.groupBy(statuses, (status) => status)['402']?.length).toBe(500 - held)
  expect(paid.acme.requests).toHaveLength(held)
  expect(await paid.billing.account()).toEqual([balance, held * maxCost])
  await paid.billing.expectConsistent()
  replied.resolve()
  const rows = await paid.billing.waitForUsage(500)
  expect(rows.filter(({ status, cost }) => status === 200 && cost === replyCost)).toHaveLength(held)
  expect(await paid.billing.account()).toEqual([balance - held * replyCost, 0])
  for (const client of clients) client.reset()
  await paid.billing.expectConsistent()
})

test('concurrent calls that cost more than estimated are each charged in full, and then none is served', async () => {
  const usage = { prompt_tokens: 5000, completion_tokens: 5, total_tokens: 5005 }
  const frames = [delta({ role: 'assistant', content: 'It is ' }), delta({}, 'stop'), { choices: [], usage }]
  await using paid = await startBillingScenario(chunks([...frames, doneFrame]), {
    balance: usd(10 * maxCost),
  })
  const cost = 5000 * 1000 + 5 * 10_000
  const replies = await Promise.all(
    Array.from({ length: 10 }, async () => (await paid.app.chat({ ...chatRequest, stream: true })).text()),
  )
  const passed = replies.filter((text) => text.endsWith(doneFrame)).length
  expect(passed).toBeWithin(3, 11)
  const rows = await paid.billing.waitForUsage(10)
  expect(rows.filter((row) => row.cost === cost)).toHaveLength(passed)
  expect(await paid.billing.account()).toEqual([10 * maxCost - passed * cost, 0])
  expect((await paid.app.chat(chatRequest)).status).toBe(402)
  await paid.billing.expectConsistent()
})

test('an organization without a balance does not affect the others', async () => {
  await using paid = await startBillingScenario([jsonReply(), streamReply()], { balance: '0' })
  await paid.billing.fund('rich', '1')
  const headers = { authorization: `Bearer ${await paid.billing.keyOf('rich')}` }
  expect((await paid.app.chat(chatRequest)).status).toBe(402)
  expect((await paid.app.chat(chatRequest, { headers })).status).toBe(200)
  expect((await paid.app.chat(chatRequest)).status).toBe(402)
  expect(await paid.billing.account('rich')).toEqual([1e9 - replyCost, 0])
  expect(await paid.billing.account()).toEqual([0, 0])
})
