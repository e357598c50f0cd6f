import { describe, expect, test } from 'bun:test'
import type { Fields } from '../../../src/lib/json/json.ts'
import { type BillingScenario, startBillingScenario } from '../../support/billing-scenario.ts'
import { jsonReply } from '../../support/chat-fixtures.ts'
import { anthropicReply } from '../../support/messages.ts'
import { limitHeaders } from '../../support/limits.ts'
import { postResponse } from '../../support/responses.ts'
import { chatRequest } from '../../support/scenario.ts'
import { json } from '../../support/script.ts'

/** In nano-dollars a token, that of `pricing`. */
const inputPrice = 1000

const stateLength = 100_000
/** So few that what flows back during the test does not matter. */
const tokensPerMinute = 300_000
const tools = [{ type: 'function', function: { name: 'read' } }]
const callId = (index: number) => `call_b7Kx2mQ9pLwZ4tRv${index}`

/** A tool call with reasoning that OpenRouter wants back with it. */
function callReply(index: number, length = stateLength) {
  const call = { id: callId(index), type: 'function', function: { name: 'read', arguments: '{}' } }
  const detail = { type: 'reasoning.encrypted', data: String(index).repeat(length), index: 0 }
  const message = { role: 'assistant', content: null, tool_calls: [call], reasoning_details: [detail] }
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
  return json({ choices: [{ index: 0, message, finish_reason: 'tool_calls' }], usage })
}

/** A gateway with the states of this many tool calls, and then this balance in USD. */
async function startWithStates(
  count: number,
  balance: string,
  { length = stateLength, limit = tokensPerMinute } = {},
) {
  const replies = Array.from({ length: count }, (_, index) => callReply(index, length))
  const paid = await startBillingScenario([...replies, jsonReply()], {
    balance: '0.1',
    acme: { kind: 'openrouter' },
    model: { max_output_tokens: 10 },
    settings: { compatibility: { function_tools: true }, limits: { tokens_per_minute: limit } },
  })
  for (let index = 0; index < count; index++) {
    const reply = await paid.app.chat({ ...chatRequest, tools })
    expect([reply.status, (await reply.text()).includes(callId(index))]).toEqual([200, true])
  }
  const [left] = await paid.billing.account()
  await paid.billing.rows('UPDATE organizations SET balance = 0')
  await paid.billing.rows('DELETE FROM ledger')
  await paid.billing.rows('DELETE FROM usage')
  expect(left).toBeGreaterThan(0)
  await paid.billing.fund('default', balance)
  return paid
}

/** Which of the states the provider has received with this request. */
const statesIn = (body: unknown, count: number) =>
  indexes(count).filter((index) => JSON.stringify(body).includes(String(index).repeat(1000)))

const indexes = (count: number) => Array.from({ length: count }, (_, index) => index)

/** A conversation in which these calls were made. */
function chatBody(count: number): Fields {
  const turns = indexes(count).flatMap((index) => [
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: callId(index), type: 'function', function: { name: 'read', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: callId(index), content: '4' },
  ])
  return { ...chatRequest, tools, messages: [...chatRequest.messages, ...turns] }
}

function responseBody(count: number): Fields {
  const items = indexes(count).flatMap((index) => [
    { type: 'function_call', call_id: callId(index), name: 'read', arguments: '{}' },
    { type: 'function_call_output', call_id: callId(index), output: '4' },
  ])
  return {
    tools: [{ type: 'function', name: 'read' }],
    input: [{ role: 'user', content: 'How high is it?' }, ...items],
  }
}

function messageBody(count: number): Fields {
  const turns = indexes(count).flatMap((index) => [
    { role: 'assistant', content: [{ type: 'tool_use', id: callId(index), name: 'read', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: callId(index), content: '4' }] },
  ])
  const first = { role: 'user', content: 'How high is it?' }
  const { model } = chatRequest
  return {
    model,
    max_tokens: 10,
    tools: [{ name: 'read', input_schema: { type: 'object' } }],
    messages: [first, ...turns],
  }
}

type Send = (paid: BillingScenario, count: number) => Promise<Response>

const doors: readonly (readonly [string, Send])[] = [
  ['a chat completion', ({ app }, count) => app.chat(chatBody(count))],
  ['a response', ({ app }, count) => postResponse(app, responseBody(count))],
  [
    'a background run',
    ({ app }, count) => postResponse(app, { ...responseBody(count), background: true, store: true }),
  ],
  ['a message', ({ app }, count) => app.request('/v1/messages', { body: messageBody(count) })],
]

describe.each(doors)('the restored state of earlier tool calls in %s', (_, send) => {
  test('is part of what is reserved: a balance that does not cover it buys nothing', async () => {
    await using paid = await startWithStates(8, '0.5')
    const reply = await send(paid, 8)
    expect(reply.status).toBe(402)
    expect(paid.acme.requests).toHaveLength(8)
    await paid.billing.waitForUsage(1)
    expect(await paid.billing.account()).toEqual([500_000_000, 0])
  })

  test('is sent once it is reserved, and its tokens are taken from the rate limit', async () => {
    const gate = Promise.withResolvers<void>()
    await using paid = await startWithStates(8, '2')
    const { play } = jsonReply()
    paid.acme.respondWith({ play: async (...ends) => (await gate.promise, play(...ends)) })
    const pending = send(paid, 8)
    pending.catch(() => {})
    const { body } = await paid.acme.request(8)
    const sent = JSON.stringify(body).length
    expect(sent).toBeGreaterThan(8 * stateLength)
    const [[amount, promptTokens] = []] = await paid.billing.values(
      'SELECT amount, prompt_tokens FROM reservations',
    )
    const [, reserved] = await paid.billing.account()
    expect(Number(amount)).toBeGreaterThanOrEqual(8 * stateLength * inputPrice)
    expect(reserved).toBe(Number(amount))
    expect(Number(promptTokens)).toBeGreaterThanOrEqual((8 * stateLength) / 4)
    const limits = limitHeaders(await paid.app.request('/v1/models'))
    const remaining = Number(limits['x-ratelimit-remaining-tokens'])
    expect(remaining).toBeLessThan(tokensPerMinute - (8 * stateLength) / 8)
    gate.resolve()
    expect((await pending).status).toBe(200)
    await paid.billing.waitForUsage(1)
    expect((await paid.billing.account())[1]).toBe(0)
  })
})

test('state beyond 4 MiB is not restored: the last calls keep theirs, and a warning says so', async () => {
  await using paid = await startWithStates(5, '10', { length: 1_200_000, limit: 20_000_000 })
  const reply = await paid.app.chat(chatBody(5))
  expect(reply.status).toBe(200)
  expect(await reply.json()).toMatchObject({ warnings: [expect.stringContaining('longer than 4 MiB')] })
  const { body } = await paid.acme.request(5)
  expect(statesIn(body, 5)).toEqual([2, 3, 4])
  const fitting = await paid.app.chat(chatBody(3))
  expect(fitting.status).toBe(200)
  expect(await fitting.json()).not.toHaveProperty('warnings')
  expect(statesIn((await paid.acme.request(6)).body, 5)).toEqual([0, 1, 2])
})

test('state that an Anthropic provider receives from the caller is not reserved a second time', async () => {
  const thinking = { type: 'thinking', thinking: 'x'.repeat(stateLength), signature: 'EqQBsigned' }
  const toolUse = { type: 'tool_use', id: callId(0), name: 'read', input: {} }
  const gate = Promise.withResolvers<void>()
  const first = anthropicReply([thinking, toolUse], { stop_reason: 'tool_use' })
  await using paid = await startBillingScenario(first, { provider: { kind: 'anthropic' } })
  const body = messageBody(1)
  expect((await paid.app.request('/v1/messages', { body: messageBody(0) })).status).toBe(200)
  expect(await paid.billing.count('provider_state')).toBe(1)
  const { play } = anthropicReply([{ type: 'text', text: 'Done.' }])
  paid.acme.respondWith({ play: async (...ends) => (await gate.promise, play(...ends)) })
  const pending = paid.app.request('/v1/messages', { body })
  const sent = (await paid.acme.request(1)).body
  const [, reserved] = await paid.billing.account()
  gate.resolve()
  expect((await pending).status).toBe(200)
  expect(JSON.stringify(sent)).not.toContain('xxxx')
  expect(reserved).toBeLessThan(stateLength * inputPrice)
})
