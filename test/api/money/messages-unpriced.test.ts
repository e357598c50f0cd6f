import { describe, expect, test } from 'bun:test'
import { startBillingScenario } from '../../support/billing-scenario.ts'
import {
  anthropicReply,
  anthropicStream,
  messageRequest,
  readEvents,
  readMessage,
  sendMessage,
  startAnthropicScenario,
} from '../../support/messages.ts'

const text = [{ type: 'text', text: 'It is four metres.' }]
const pricing = { input: 1, output: 10 }
const longContext = 'context-1m-2025-08-07'

describe('the beta of a longer context, which is charged at other prices,', () => {
  test.each([
    ['is ignored where the model has the standard window', 200_000, 'other-2025-01-01'],
    ['is sent where the settings of the model cover it', 1_000_000, `other-2025-01-01,${longContext}`],
  ])('%s', async (_, context_window, expected) => {
    await using served = await startAnthropicScenario(anthropicReply(text), { model: { context_window } })
    const headers = { 'anthropic-beta': `other-2025-01-01,${longContext}` }
    const message = await readMessage(await sendMessage(served.app, messageRequest, { headers }))
    const request = await served.acme.request(0)
    expect(request.headers.get('anthropic-beta')).toBe(expected)
    expect(JSON.stringify(message.warnings ?? []).includes(longContext)).toBe(context_window === 200_000)
  })

  test('is no longer sent as a property of the body', async () => {
    await using served = await startAnthropicScenario(anthropicReply(text))
    const fields = { anthropic_beta: [longContext], betas: [longContext], anthropic_version: 'x' }
    await readMessage(await sendMessage(served.app, { ...messageRequest, ...fields }))
    const { body } = await served.acme.request(0)
    expect(JSON.stringify(body)).not.toContain('anthropic_')
    expect(JSON.stringify(body)).not.toContain(longContext)
  })
})

describe('a compaction of the context, which the provider counts apart from the message,', () => {
  const iterations = [
    { type: 'compaction', input_tokens: 900, cache_read_input_tokens: 50, output_tokens: 40 },
    { type: 'message', input_tokens: 12, output_tokens: 5 },
  ]
  const usage = { input_tokens: 12, output_tokens: 5, iterations }
  const context_management = { edits: [{ type: 'compact_20260112' }] }

  test.each([
    ['complete', anthropicReply, false],
    ['streamed', anthropicStream, true],
  ] as const)('is paid with a %s message', async (_, script, stream) => {
    const model = { pricing, context_window: 800, max_output_tokens: 40 }
    await using paid = await startBillingScenario(script(text, { usage }), {
      provider: { kind: 'anthropic' },
      model,
    })
    const reply = await sendMessage(paid.app, {
      ...messageRequest,
      max_tokens: 40,
      stream,
      context_management,
    })
    await (stream ? readEvents(reply) : readMessage(reply))
    const [row] = await paid.billing.waitForUsage(1)
    expect(row).toMatchObject({ prompt_tokens: 962, cached_tokens: 50, completion_tokens: 45 })
    expect(row?.cost).toBe(962 * 1000 + 45 * 10_000)
    await paid.billing.expectConsistent()
  })
})

test('the reservation covers the instructions of a compaction, which the model reads', async () => {
  const instructions = 'Keep all gauges. '.repeat(1000)
  const script = anthropicReply(text, { usage: { input_tokens: 5000, output_tokens: 5 } })
  const provider = { kind: 'anthropic' as const }
  await using paid = await startBillingScenario(script, { provider, model: { pricing }, balance: '0.010' })
  const context_management = { edits: [{ type: 'compact_20260112', instructions }] }
  const request = { ...messageRequest, context_management }
  expect((await sendMessage(paid.app, request)).status).toBe(402)
  expect(paid.acme.requests).toEqual([])
  await paid.billing.fund('default', '0.090')
  await readMessage(await sendMessage(paid.app, request))
  expect(await paid.billing.account()).toEqual([100_000_000 - 5000 * 1000 - 5 * 10_000, 0])
  await paid.billing.expectConsistent()
})

describe('the reservation covers the files within a block of another type', () => {
  const url = { type: 'url', url: 'https://files.example/book.pdf' }
  const document = { type: 'document', source: url }
  test.each([
    ['a document by URL', { type: 'mcp_tool_result', tool_use_id: 'a', content: [document] }],
    [
      'an image by URL',
      { type: 'mcp_tool_result', tool_use_id: 'a', content: [{ ...document, type: 'image' }] },
    ],
    [
      'a file that a tool has made',
      {
        type: 'code_execution_tool_result',
        tool_use_id: 'a',
        content: { content: [{ type: 'code_execution_output', file_id: 'file_1' }] },
      },
    ],
    [
      'a document in a result in a message of the model',
      { type: 'tool_result', tool_use_id: 'a', content: [document] },
    ],
  ])('%s', async (_, block) => {
    await using paid = await startBillingScenario(anthropicReply(text), {
      provider: { kind: 'anthropic' },
      model: { pricing, context_window: 200_000 },
      balance: '0.003',
    })
    const messages = [...messageRequest.messages, { role: 'assistant', content: [block] }]
    const reply = await sendMessage(paid.app, { ...messageRequest, messages })
    expect(await reply.json()).toMatchObject({ error: { type: 'billing_error' } })
    expect(paid.acme.requests).toEqual([])
    await paid.billing.expectConsistent()
  })
})
