import { describe, expect, test } from 'bun:test'
import type { GenerationEvent } from '../../../../src/domain/generation/events.ts'
import { parsedReply, readStream } from './support/parsed-reply.ts'
import { expectOrderlyCalls } from './support/call-events.ts'
import { protocolNamed } from './support/chunks.ts'

const protocol = protocolNamed('anthropic')
const read = (...events: (object | string)[]): GenerationEvent[] => {
  const frames = events.map((event) =>
    typeof event === 'string' ? event : `data: ${JSON.stringify(event)}\n\n`,
  )
  return readStream(protocol, Buffer.from(frames.join('')))
}

const start = (usage: object = { input_tokens: 5, output_tokens: 1 }) => ({
  type: 'message_start',
  message: { role: 'assistant', content: [], usage },
})
const open = (content_block: object, index = 0) => ({ type: 'content_block_start', index, content_block })
const delta = (delta: object, index = 0) => ({ type: 'content_block_delta', index, delta })
const close = { type: 'content_block_stop', index: 0 }
const text = (text: string) => [open({ type: 'text', text: '' }), delta({ type: 'text_delta', text }), close]
const end = (stop_reason: string | null, usage: object = { output_tokens: 9 }) => ({
  type: 'message_delta',
  delta: { stop_reason },
  usage,
})
const stop = { type: 'message_stop' }
const call = (name: string, ...pieces: string[]) => [
  open({ type: 'tool_use', id: `toolu_01${name}9x7`, name, input: {} }),
  ...pieces.map((partial_json) => delta({ type: 'input_json_delta', partial_json })),
  close,
]

describe('the end of a streamed message', () => {
  test.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['pause_turn', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['refusal', 'content_filter'],
    ['a_new_word', 'stop'],
  ])('with the stop reason %p is %p, streamed or not', (word, expected) => {
    expect(parsedReply(read(start(), ...text('Hi'), end(word), stop)).choices[0]?.finish).toBe(expected)
    const complete = protocol.parse({ type: 'message', content: [], stop_reason: word })
    expect(parsedReply(complete).choices[0]?.finish).toBe(expected)
  })

  test('with tool calls is tool_calls, unless a limit interrupted it', () => {
    expect(parsedReply(read(start(), ...call('f'), end('end_turn'), stop)).choices[0]?.finish).toBe(
      'tool_calls',
    )
    expect(parsedReply(read(start(), ...call('f'), end('max_tokens'), stop)).choices[0]?.finish).toBe(
      'length',
    )
  })

  test.each([
    ['without message_stop', [start(), ...text('Hi'), end('end_turn')]],
    ['without a stop reason', [start(), ...text('Hi'), end(null), stop]],
    ['in the middle', [start(), ...text('Hi').slice(0, 2)]],
    [
      'with an error after the stop reason',
      [start(), ...text('Hi'), end('end_turn'), { type: 'error', error: {} }],
    ],
    ['with an event that was mutilated', [start(), ...text('Hi'), 'event: message_delta\ndata: {"type"\n\n']],
  ])('is a failure after the text: %s', (_name, events) => {
    const reply = parsedReply(read(...events))
    expect(reply.failures).toHaveLength(1)
    expect(reply.choices).toMatchObject([{ text: 'Hi' }])
    expect(reply.choices[0]?.finish).toBeUndefined()
  })

  test('is only a failure where the first event is an error, also after message_start', () => {
    const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
    for (const events of [read(error), read(start(), error)])
      expect(events).toMatchObject([{ type: 'failure', error: { status: 529, message: 'Overloaded' } }])
  })

  test.each([
    [{ type: 'error', error: { type: 'rate_limit_error', message: 'Slow down.' } }, 429],
    [{ error: { code: 403, message: 'Not allowed here.', status: 'PERMISSION_DENIED' } }, 403],
    [[{ error: { code: 404, message: 'No such model.', status: 'NOT_FOUND' } }], 404],
  ])('with an error has its own status, or that of the cloud before it: %p', (body, status) => {
    expect(protocol.parseError(body)).toMatchObject({ status })
    expect(protocol.parse(body)).toMatchObject([{ type: 'failure', error: { status } }])
  })

  test('is the last event that is read', () => {
    const events = read(start(), ...text('Hi'), end('end_turn'), stop, ...text('more'), stop)
    expect(parsedReply(events).choices[0]?.text).toBe('Hi')
    expect(events.filter((event) => event.type === 'finish')).toHaveLength(1)
  })
})

describe('the tool calls of a streamed message', () => {
  const callsIn = (events: readonly GenerationEvent[]) => events.filter((event) => event.type === 'tool-call')

  test('are emitted when their block ends', () => {
    const events = read(start(), ...call('f', '', '{"x"', ':1}'), ...call('g').slice(0, 1))
    expect(callsIn(events)).toEqual([
      {
        type: 'tool-call',
        choice: 0,
        index: 0,
        call: { id: 'toolu_01f9x7', name: 'f', arguments: '{"x":1}' },
      },
    ])
  })

  test('start with their block and grow with each delta of it', () => {
    const cut = call('f', '', '{"x"', ':1}').slice(0, -1)
    const events = read(start({}), ...cut, ...call('g'), end('tool_use', {}), stop)
    expect(events).toMatchObject([
      { type: 'tool-call-begin', index: 0, id: 'toolu_01f9x7', name: 'f' },
      { type: 'tool-call-delta', index: 0, arguments: '{"x"' },
      { type: 'tool-call-delta', index: 0, arguments: ':1}' },
      { type: 'tool-call', index: 0, call: { arguments: '{"x":1}' } },
      { type: 'tool-call-begin', index: 1, id: 'toolu_01g9x7', name: 'g' },
      { type: 'tool-call-delta', index: 1, arguments: '{}' },
      { type: 'tool-call', index: 1, call: { arguments: '{}' } },
      { type: 'ending' },
      { type: 'finish', reason: 'tool_calls' },
    ])
  })

  test('end in their order, also where the first of them is not complete JSON', () => {
    const events = read(start(), ...call('f', '{"x":'), ...call('g', '{}'), end('tool_use'), stop)
    expect(expectOrderlyCalls(events)).toEqual([])
    expect(callsIn(events).map((event) => event.call.arguments)).toEqual(['{"x":', '{}'])
  })

  test('with a duplicate id get a new one', () => {
    const events = read(start(), ...call('f'), ...call('f'), end('tool_use'), stop)
    expect(expectOrderlyCalls(events)).toEqual([])
    expect(callsIn(events)).toHaveLength(2)
  })

  test('that a limit interrupted are emitted with the finish, and never by a stream that broke', () => {
    const cut = [start(), ...call('f', '{"x":'), end('max_tokens')]
    expect(callsIn(read(...cut, stop))).toMatchObject([{ call: { arguments: '{"x":' } }])
    expect(callsIn(read(...cut))).toEqual([])
  })

  test('carry the reasoning before them, each its own', () => {
    const thinking = (thinking: string, signature: string) => [
      open({ type: 'thinking', thinking: '', signature: '', extra: true }),
      delta({ type: 'thinking_delta', thinking }),
      delta({ type: 'signature_delta', signature }),
      close,
    ]
    const hidden = { type: 'redacted_thinking', data: 'QUJD' }
    const output = [
      ...thinking('Hm', 'c2ln'),
      open(hidden),
      close,
      ...text('So.'),
      ...call('f'),
      ...call('g'),
    ]
    const events = read(start(), ...output, ...thinking('', 'ZW5k'), ...call('h'), end('tool_use'), stop)
    const thought = { type: 'thinking', thinking: 'Hm', signature: 'c2ln', extra: true }
    expect(callsIn(events).map((event) => event.state)).toEqual([
      { thinking_blocks: [thought, hidden] },
      undefined,
      { thinking_blocks: [{ ...thought, thinking: '', signature: 'ZW5k' }] },
    ])
    expect(parsedReply(events).choices[0]).toMatchObject({ reasoning: 'Hm', text: 'So.' })
  })

  test('in a complete message are the same', () => {
    const thought = { type: 'thinking', thinking: 'Hm', signature: 'c2ln' }
    const content = [thought, { type: 'tool_use', id: 'toolu_01f9x7', name: 'f', input: { x: 1 } }]
    const events = protocol.parse({ type: 'message', content, stop_reason: 'tool_use' })
    expect(callsIn(events)).toEqual([
      {
        type: 'tool-call',
        choice: 0,
        index: 0,
        call: { id: 'toolu_01f9x7', name: 'f', arguments: '{"x":1}' },
        state: { thinking_blocks: [thought] },
      },
    ])
  })

  test('of the tool that stands for the response format are its text', () => {
    const name = 'weir__give_answer'
    const streamed = parsedReply(
      read(start(), ...call(name, '{"x"', ':1}'), ...call(name, '{}'), end('tool_use'), stop),
    )
    const content = [{ type: 'tool_use', id: 'toolu_01f9x7', name, input: { x: 1 } }]
    const complete = parsedReply(protocol.parse({ type: 'message', content, stop_reason: 'tool_use' }))
    for (const { choices } of [streamed, complete])
      expect(choices).toEqual([{ text: '{"x":1}', reasoning: '', calls: [], ids: [], finish: 'stop' }])
    expect(parsedReply(read(start(), ...call(name), end('tool_use'), stop)).choices[0]?.text).toBe('{}')
  })
})

describe('the usage of a message', () => {
  const counts = {
    input_tokens: 10,
    cache_read_input_tokens: 20,
    cache_creation_input_tokens: 30,
    cache_creation: { ephemeral_5m_input_tokens: 12, ephemeral_1h_input_tokens: 18 },
    output_tokens: 1,
    service_tier: 'standard',
  }

  test('includes the cache in the prompt, and later counts replace earlier ones', () => {
    const later = { input_tokens: 11, output_tokens: 7, cache_read_input_tokens: null }
    const { usage } = parsedReply(read(start(counts), ...text('Hi'), end('end_turn', later), stop))
    expect(usage).toMatchObject({
      promptTokens: 61,
      completionTokens: 7,
      cachedTokens: 20,
      cacheWriteTokens: 30,
      longCacheWriteTokens: 18,
    })
  })

  test('is emitted with the first tokens already, for clients that disconnect', () => {
    const events = read(start(counts), ...text('Hi').slice(0, 1))
    expect(events.slice(0, 2)).toMatchObject([
      { type: 'tier', tier: 'default' },
      { type: 'usage', usage: { promptTokens: 60 } },
    ])
  })

  test('is absent where nothing was counted', () => {
    expect(parsedReply(read(start({}), ...text('Hi'), end('end_turn', {}), stop)).usage).toBeUndefined()
  })

  test.each([
    ['standard', 'default'],
    ['priority', 'priority'],
    ['batch', null],
  ])('maps the tier %p to %p', (word, tier) => {
    const events = protocol.parse({ type: 'message', content: [], usage: { service_tier: word } })
    expect(events[0]).toEqual({ type: 'tier', tier: tier as 'default' })
  })
})
