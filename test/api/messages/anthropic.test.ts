import { describe, expect, test } from 'bun:test'
import {
  anthropicReply,
  anthropicStream,
  type Block,
  foldEvents,
  messageRequest,
  readEvents,
  readMessage,
  sendMessage,
  startAnthropicScenario,
} from '../../support/messages.ts'

const thinking = { type: 'thinking', thinking: 'Two gates are shut.', signature: 'c2lnbmF0dXJl' }
const citation = { type: 'page_location', document_index: 0, start_page_number: 1, end_page_number: 2 }
const content: readonly Block[] = [
  thinking,
  { type: 'redacted_thinking', data: 'ZW5jcnlwdGVk' },
  { type: 'text', text: 'It rises.', citations: [citation] },
  { type: 'text', text: 'I measure.' },
  { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'Elbe' } },
  {
    type: 'web_search_tool_result',
    tool_use_id: 'srvtoolu_1',
    content: [{ type: 'web_search_result', url: 'https://a' }],
  },
  {
    type: 'tool_use',
    id: 'toolu_01A09q90qw90lq917835lq9',
    name: 'measure',
    input: { river: 'Elbe' },
    caller: { type: 'direct' },
  },
  { type: 'tool_use', id: 'toolu_01B09q90qw90lq917835lq9', name: 'measure', input: {} },
]
const usage = {
  input_tokens: 12,
  cache_read_input_tokens: 8,
  cache_creation_input_tokens: 30,
  cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
  output_tokens: 40,
  server_tool_use: { web_search_requests: 1 },
  service_tier: 'standard',
}

/** A request with everything that Anthropic's API has. */
const request = {
  model: 'acme/river',
  max_tokens: 4000,
  system: [{ type: 'text', text: 'Measure rivers.', cache_control: { type: 'ephemeral', ttl: '1h' } }],
  messages: [
    {
      role: 'user',
      content: [{ type: 'document', source: { type: 'text', media_type: 'text/plain', data: '4 m' } }],
    },
    {
      role: 'assistant',
      content: [thinking, { type: 'tool_use', id: 'toolu_0', name: 'measure', input: { a: 1 } }],
    },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'toolu_0',
          is_error: true,
          content: [{ type: 'text', text: 'Broken.' }],
        },
        { type: 'text', text: 'Again.', cache_control: { type: 'ephemeral' } },
      ],
    },
    { role: 'system', content: 'Be brief.' },
  ],
  tools: [
    { name: 'measure', input_schema: { type: 'object' }, defer_loading: true, input_examples: [{ a: 1 }] },
    { type: 'web_search_20250305', name: 'web_search', max_uses: 2 },
  ],
  tool_choice: { type: 'auto', disable_parallel_tool_use: true },
  thinking: { type: 'enabled', budget_tokens: 2000 },
  output_config: { effort: 'low', format: { type: 'json_schema', schema: { type: 'object' } } },
  context_management: { edits: [{ type: 'clear_thinking_20251015' }] },
  metadata: { user_id: '{"device_id":"d","session_id":"s"}' },
  stop_sequences: ['END'],
  top_k: 5,
  service_tier: 'standard_only',
  a_field_of_tomorrow: { deep: [1] },
}

const betas = 'claude-code-20250219,interleaved-thinking-2025-05-14'
const headers = { 'anthropic-version': '2023-06-01', 'anthropic-beta': betas }

describe('a conversation with an Anthropic upstream loses nothing', () => {
  const ending = { stop_reason: 'tool_use', usage, stop_details: null }

  test('in its request', async () => {
    await using scenario = await startAnthropicScenario(anthropicReply(content, ending))
    await readMessage(await sendMessage(scenario.app, request, { headers }))
    const [sent] = scenario.acme.requests
    expect<unknown>(sent?.body).toEqual({ ...request, model: 'river-1' })
    expect(sent?.headers.get('anthropic-beta')).toBe(betas)
    expect(sent?.headers.get('anthropic-version')).toBe('2023-06-01')
    expect(sent?.path).toBe('/v1/v1/messages')
  })

  const short = { type: 'tool_use', id: 'toolu_9', name: 'measure', input: { river: 'Elbe' } }
  const uncited = { type: 'text', text: 'It rises.', citations: [] }

  test.each([
    ['complete', anthropicReply, false],
    ['streamed', anthropicStream, true],
  ] as const)(
    'in short ids of tool calls and in empty lists, of a %s reply and of what follows it',
    async (_, script, stream) => {
      const blocks = [thinking, uncited, short, { ...short, id: 'toolu_10' }]
      await using scenario = await startAnthropicScenario(script(blocks, { stop_reason: 'tool_use' }))
      const reply = await sendMessage(scenario.app, { ...messageRequest, stream })
      const message = stream ? foldEvents(await readEvents(reply)) : await readMessage(reply)
      expect<unknown>(message.content).toEqual(blocks)
      const result = { type: 'tool_result', tool_use_id: short.id, content: '4' }
      const turns = [
        { role: 'assistant', content: message.content },
        { role: 'user', content: [result] },
      ]
      await sendMessage(scenario.app, { ...messageRequest, messages: [...messageRequest.messages, ...turns] })
      expect<unknown>(scenario.acme.requests[1]?.body.messages).toEqual([
        ...messageRequest.messages,
        ...turns,
      ])
    },
  )

  test('in its complete reply', async () => {
    await using scenario = await startAnthropicScenario(anthropicReply(content, ending))
    const message = await readMessage(await sendMessage(scenario.app, request, { headers }))
    expect<unknown>(message.content).toEqual(content)
    expect(message).toMatchObject({
      type: 'message',
      role: 'assistant',
      model: 'acme/river',
      stop_reason: 'tool_use',
    })
    expect(message.usage).toMatchObject(usage)
    expect(message).not.toHaveProperty('warnings')
    expect(message.id).toStartWith('msg_')
  })

  test('in its streamed reply', async () => {
    await using scenario = await startAnthropicScenario(anthropicStream(content, ending))
    const reply = await sendMessage(scenario.app, { ...request, stream: true }, { headers })
    expect(reply.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    const events = await readEvents(reply)
    expect(events.slice(0, 3).map(({ type }) => type)).toEqual([
      'message_start',
      'content_block_start',
      'ping',
    ])
    expect<unknown>(events[0]).toMatchObject({
      message: { usage: { input_tokens: 12, cache_read_input_tokens: 8, cache_creation_input_tokens: 30 } },
    })
    const message = foldEvents(events)
    expect<unknown>(message.content).toEqual(content)
    expect(message).toMatchObject({ stop_reason: 'tool_use', usage })
    expect<unknown>(scenario.acme.requests[0]?.body).toEqual({ ...request, model: 'river-1', stream: true })
  })

  test.each([
    ['pause_turn', {}, { stop_reason: 'pause_turn' }],
    ['model_context_window_exceeded', {}, { stop_reason: 'model_context_window_exceeded' }],
    ['stop_sequence', { stop_sequence: 'END' }, { stop_reason: 'stop_sequence', stop_sequence: 'END' }],
    ['max_tokens', {}, { stop_reason: 'max_tokens', stop_sequence: null }],
    [
      'refusal',
      { stop_details: { type: 'refusal', category: 'bio', explanation: 'No.' } },
      { stop_reason: 'refusal', stop_details: { category: 'bio' } },
    ],
    [
      'end_turn',
      { container: { id: 'container_1' } },
      { stop_reason: 'end_turn', container: { id: 'container_1' } },
    ],
  ])('in its stop reason %s', async (stop_reason, fields, expected) => {
    const text = [{ type: 'text', text: 'It.' }]
    await using scenario = await startAnthropicScenario([anthropicReply(text, { ...fields, stop_reason })])
    expect<unknown>(await readMessage(await sendMessage(scenario.app))).toMatchObject(expected)
  })

  test('where the answer is empty', async () => {
    await using scenario = await startAnthropicScenario([anthropicReply([]), anthropicStream([])])
    expect(await readMessage(await sendMessage(scenario.app))).toMatchObject({
      content: [],
      stop_reason: 'end_turn',
    })
    const events = await readEvents(await sendMessage(scenario.app, { ...messageRequest, stream: true }))
    expect(events.map(({ type }) => type)).toEqual(['message_start', 'message_delta', 'message_stop'])
  })
})
