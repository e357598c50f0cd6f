import { describe, expect, test } from 'bun:test'
import { readPieces } from '../../support/body-reader.ts'
import {
  type BillingScenario,
  type BillingScenarioOptions,
  startBillingScenario,
} from '../../support/billing-scenario.ts'
import { jsonReply, streamReply } from '../../support/chat-fixtures.ts'
import { limitHeaders } from '../../support/limits.ts'
import {
  anthropicFrame,
  anthropicReply,
  anthropicStream,
  foldEvents,
  messageRequest,
  readEvents,
  readMessage,
  sendMessage,
} from '../../support/messages.ts'
import { events, hang, type Script, silence } from '../../support/script.ts'

const pricing = { input: 1, output: 10, cache_read: 0.1, cache_write: 1.25 }
const usage = {
  input_tokens: 12,
  cache_read_input_tokens: 100,
  cache_creation_input_tokens: 50,
  cache_creation: { ephemeral_5m_input_tokens: 30, ephemeral_1h_input_tokens: 20 },
  output_tokens: 5,
}
/** In nano-dollars: writes for an hour cost twice the input. */
const cost = 12 * 1000 + 100 * 100 + 30 * 1250 + 20 * 2000 + 5 * 10_000
const text = [{ type: 'text', text: 'It is four metres.' }]

function startAnthropicBilling(script: Script | readonly Script[], options: BillingScenarioOptions = {}) {
  const model = { pricing, context_window: 10_000, ...options.model }
  return startBillingScenario(script, { ...options, provider: { kind: 'anthropic' }, model })
}

async function rowOf({ billing }: BillingScenario, reply: Response) {
  return await billing.usageOf(reply.headers.get('x-request-id') ?? '')
}

describe('a prepaid organization pays exactly the tokens of a message', () => {
  test.each([
    ['complete', anthropicReply, false],
    ['streamed', anthropicStream, true],
  ] as const)('where it is %s', async (_, script, stream) => {
    await using paid = await startAnthropicBilling(script(text, { usage }))
    const reply = await sendMessage(paid.app, { ...messageRequest, stream })
    const message = stream ? foldEvents(await readEvents(reply)) : await readMessage(reply)
    expect(message.usage).toMatchObject(usage)
    if (!stream) expect(reply.headers.get('x-weir-cost')).toBe((cost / 1e9).toFixed(9))
    const [row] = await paid.billing.waitForUsage(1)
    expect(row).toMatchObject({
      status: 200,
      cost,
      prompt_tokens: 162,
      cached_tokens: 100,
      completion_tokens: 5,
    })
    expect(row).toMatchObject({ api: 'messages', stream: Number(stream), model: 'acme/river' })
    await paid.billing.expectConsistent()
  })

  test('of any provider', async () => {
    await using paid = await startBillingScenario([jsonReply(), streamReply()])
    await readMessage(await sendMessage(paid.app))
    foldEvents(await readEvents(await sendMessage(paid.app, { ...messageRequest, stream: true })))
    const rows = await paid.billing.waitForUsage(2)
    expect(rows.map((row) => row.cost)).toEqual([62_000, 62_000])
    await paid.billing.expectConsistent()
  })
})

describe('a prepaid organization is rejected with 402', () => {
  test.each<readonly [string, object, BillingScenarioOptions]>([
    ['without a balance', {}, { balance: '0.000000001' }],
    [
      'for a tool that the provider charges for',
      { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
      {},
    ],
    ['for a server that the provider calls', { mcp_servers: [{ type: 'url', url: 'https://a' }] }, {}],
    ['for a model without a price', {}, { model: { pricing: undefined } }],
  ])('%s', async (_, fields, options) => {
    await using paid = await startAnthropicBilling(anthropicReply(text), options)
    const reply = await sendMessage(paid.app, { ...messageRequest, ...fields })
    expect(await reply.json()).toMatchObject({ type: 'error', error: { type: 'billing_error' } })
    expect(reply.status).toBe(402)
    expect(paid.acme.requests).toEqual([])
    expect(await rowOf(paid, reply)).toMatchObject({ status: 402, api: 'messages' })
    await paid.billing.expectConsistent()
  })

  test('but may use tools that it runs itself', async () => {
    await using paid = await startAnthropicBilling(anthropicReply(text, { usage }))
    const tools = [{ type: 'bash_20250124', name: 'bash' }]
    await readMessage(await sendMessage(paid.app, { ...messageRequest, tools }))
    expect((await paid.billing.waitForUsage(1))[0]).toMatchObject({ cost })
  })
})

test('a rejected message is recorded with its API', async () => {
  await using paid = await startAnthropicBilling(anthropicReply(text))
  for (const body of [
    { ...messageRequest, max_tokens: 0 },
    { ...messageRequest, model: 'acme/lake' },
  ]) {
    const reply = await sendMessage(paid.app, body)
    await paid.billing.waitForUsage(1)
    expect(await rowOf(paid, reply)).toMatchObject({ status: reply.status, api: 'messages', cost: null })
  }
})

describe('a client that disconnects from a message aborts the upstream call and pays for it', () => {
  const opening = [
    anthropicFrame({ type: 'message_start', message: { usage: { input_tokens: 12, output_tokens: 1 } } }),
    anthropicFrame({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    anthropicFrame({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text: 'eight ch' },
    }),
  ]

  test('in the middle of its stream', async () => {
    await using paid = await startAnthropicBilling(events(opening, hang))
    const pieces = readPieces(await sendMessage(paid.app, { ...messageRequest, stream: true }))
    await pieces.until('eight ch')
    await pieces.leave()
    const request = await paid.acme.request(0)
    expect(await request.aborted).toBe(true)
    const [row] = await paid.billing.waitForUsage(1)
    expect(row).toMatchObject({ status: 499, prompt_tokens: 12 })
    expect(row?.cost).toBeGreaterThan(12_000)
    await paid.billing.expectConsistent()
  })

  test('before its reply', async () => {
    await using paid = await startAnthropicBilling(silence)
    const leaving = new AbortController()
    const sent = sendMessage(paid.app, messageRequest, { signal: leaving.signal })
    const request = await paid.acme.request(0)
    leaving.abort()
    await expect(sent).rejects.toThrow(/abort/)
    expect(await request.aborted).toBe(true)
    await paid.billing.expectConsistent()
  })
})

test('messages have the rate limits of the organization, under both names of the headers', async () => {
  const settings = { limits: { requests_per_minute: 1 } }
  await using paid = await startAnthropicBilling(anthropicReply(text), { settings })
  const reply = await sendMessage(paid.app)
  expect(Object.fromEntries(reply.headers)).toMatchObject({
    'x-ratelimit-limit-requests': '1',
    'anthropic-ratelimit-requests-limit': '1',
    'anthropic-ratelimit-requests-remaining': '0',
    'anthropic-ratelimit-requests-reset': expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
  })
  for (const path of ['/v1/messages', '/v1/messages/count_tokens']) {
    const limited = await paid.app.request(path, { body: messageRequest })
    expect(limited.status).toBe(429)
    expect(await limited.json()).toMatchObject({ type: 'error', error: { type: 'rate_limit_error' } })
    expect(Number(limitHeaders(limited)['retry-after'])).toBeGreaterThan(0)
    expect(limited.headers.get('anthropic-ratelimit-requests-remaining')).toBe('0')
  }
})
