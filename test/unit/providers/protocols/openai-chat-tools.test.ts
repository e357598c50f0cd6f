import { describe, expect, test } from 'bun:test'
import type { GenerationEvent, ToolCallEvent } from '../../../../src/domain/generation/events.ts'
import type { Effort } from '../../../../src/domain/generation/request.ts'
import { parsedReply } from './support/parsed-reply.ts'
import { expectOrderlyCalls } from './support/call-events.ts'
import { delta, eventsOf, protocolNamed } from './support/chunks.ts'

type Piece = { index?: number; id?: string; name?: string; text?: unknown; rest?: object }

const piece = ({ index, id, name, text, rest }: Piece) => ({
  index,
  id,
  function: { name, arguments: text },
  ...rest,
})
const pieces = (...all: Piece[]) => all.map((one) => delta({ tool_calls: [piece(one)] }))
const finished = delta({}, 'tool_calls')
const callsIn = (events: readonly GenerationEvent[]) =>
  events.filter((event): event is ToolCallEvent => event.type === 'tool-call')

describe('the tool calls of a chat completion stream', () => {
  test.each<[string, Piece[], string[]]>([
    [
      'no index, whole',
      [
        { id: 'a', name: 'f', text: '{"x":1}' },
        { id: 'b', name: 'f', text: '{}' },
      ],
      ['{"x":1}', '{}'],
    ],
    ['no index, in pieces', [{ id: 'a', name: 'f', text: '{"x"' }, { text: ':1}' }], ['{"x":1}']],
    [
      'index 0 for each',
      [
        { index: 0, id: 'a', name: 'f', text: '{}' },
        { index: 0, id: 'b', name: 'f', text: '{}' },
      ],
      ['{}', '{}'],
    ],
    [
      'no ids',
      [
        { index: 0, id: '', name: 'f', text: '{}' },
        { index: 1, id: '', name: 'f', text: '{}' },
      ],
      ['{}', '{}'],
    ],
    [
      'one id for both',
      [
        { index: 0, id: 'a', name: 'f', text: '{}' },
        { index: 1, id: 'a', name: 'g', text: '{}' },
      ],
      ['{}', '{}'],
    ],
    [
      'one id, no index',
      [
        { id: 'a', name: 'f', text: '{}' },
        { id: 'a', name: 'g', text: '{}' },
      ],
      ['{}', '{}'],
    ],
    [
      'the name repeated',
      [
        { index: 0, id: 'a', name: 'f', text: '{"x"' },
        { index: 0, id: 'a', name: 'f', text: ':1}' },
      ],
      ['{"x":1}'],
    ],
    [
      'interleaved',
      [
        { index: 0, id: 'a', name: 'f' },
        { index: 1, id: 'b', name: 'g' },
        { index: 0, text: '[1]' },
        { index: 1, text: '[2]' },
      ],
      ['[1]', '[2]'],
    ],
    ['an object', [{ index: 0, id: 'a', name: 'f', text: { x: 1 } }], ['{"x":1}']],
    ['nothing', [{ index: 0, id: 'a', name: 'f' }], ['{}']],
    ['no JSON', [{ index: 0, id: 'a', name: 'f', text: '{"x' }], ['{"x']],
  ])('are complete, each with its own id: %s', (_name, input, expected) => {
    const events = eventsOf('openai-compatible', ...pieces(...input), finished, '[DONE]')
    expect(expectOrderlyCalls(events)).toEqual([])
    const [choice] = parsedReply(events).choices
    expect(choice?.calls.map((call) => call.arguments)).toEqual(expected)
    expect(new Set(choice?.ids).size).toBe(expected.length)
    for (const id of choice?.ids ?? []) expect(id).not.toBe('')
    expect(choice?.finish).toBe('tool_calls')
  })

  test('are emitted as soon as the next one starts', () => {
    const input = pieces({ index: 0, id: 'a', name: 'f', text: '{}' }, { index: 1, id: 'b', name: 'g' })
    expect(callsIn(eventsOf('openai', ...input)).map((event) => event.call.id)).toEqual(['a'])
  })

  test('are not emitted incomplete when the stream breaks', () => {
    const events = eventsOf('openai', ...pieces({ index: 0, id: 'a', name: 'f', text: '{"x":' }))
    expect(events.map((event) => event.type)).toEqual(['tool-call-begin', 'tool-call-delta', 'failure'])
  })

  test('that Groq could not parse are a failure', () => {
    const error = {
      error: { message: 'Failed to call a function.', code: 'tool_use_failed', status_code: 400 },
    }
    const [event] = eventsOf('groq', error)
    expect(event).toMatchObject({ type: 'failure', error: { code: 'tool_use_failed', status: 400 } })
  })
})

describe('the provider state for the next turn of a tool loop', () => {
  const call = { index: 0, id: 'a7Kp2mQ9', name: 'f', text: '{}' }

  test('is the reasoning text at DeepSeek, with the first call only', () => {
    const reasoning = [delta({ reasoning_content: 'Let me' }), delta({ reasoning_content: ' look.' })]
    const calls = pieces(call, { index: 1, id: 'b', name: 'g', text: '{}' })
    const received = callsIn(eventsOf('deepseek', ...reasoning, ...calls, finished, '[DONE]'))
    expect(received.map((event) => event.state)).toEqual([{ reasoning_content: 'Let me look.' }, undefined])
  })

  test('is the reasoning details at OpenRouter, joined, also those after the call', () => {
    const text = (text: string) => ({ type: 'reasoning.text', text, index: 0, format: 'x' })
    const details = (...reasoning_details: object[]) => delta({ reasoning_details })
    const encrypted = { type: 'reasoning.encrypted', data: 'QUJD', index: 1 }
    const input = [
      details(text('Let')),
      details(text(' me')),
      ...pieces(call),
      details(encrypted),
      finished,
      '[DONE]',
    ]
    const [received] = callsIn(eventsOf('openrouter', ...input))
    expect(received?.state).toEqual({ reasoning_details: [text('Let me'), encrypted] })
  })

  test('is the extra_content of each call at Google', () => {
    const extra_content = { google: { thought_signature: 'QUJD' } }
    const input = pieces({ ...call, rest: { extra_content } }, { ...call, index: 1, id: 'b' })
    const received = callsIn(eventsOf('openai-compatible', ...input, finished))
    expect(received.map((event) => event.state)).toEqual([{ extra_content }, undefined])
    const begun = eventsOf('openai-compatible', ...input).filter(({ type }) => type === 'tool-call-begin')
    expect(begun).toMatchObject([{ id: 'a7Kp2mQ9', state: { extra_content } }, { id: 'b' }])
    expect(begun[1]).not.toHaveProperty('state')
  })

  test('is none where the field of Google is null', () => {
    const input = pieces({ ...call, rest: { extra_content: null } })
    const received = eventsOf('openai-compatible', ...input, finished)
    expect(received.filter((event) => 'state' in event)).toEqual([])
  })

  test.each([
    ['zai', 'reasoning_content'],
    ['fireworks', 'reasoning_content'],
    ['together', 'reasoning'],
    ['cerebras', 'reasoning'],
    ['vllm', 'reasoning'],
    ['ollama', 'reasoning'],
  ])('is the reasoning text at %s', (kind, field) => {
    const reasoning = [delta({ [field]: 'Let me' }), delta({ [field]: ' look.' })]
    const received = callsIn(eventsOf(kind, ...reasoning, ...pieces(call), finished))
    expect(received.map((event) => event.state)).toEqual([{ [field]: 'Let me look.' }])
  })

  test('is the reasoning text, too, at other compatible providers, as soon as the next call starts', () => {
    const extra_content = { google: { thought_signature: 'QUJD' } }
    const reasoning_content = 'Let me look.'
    const calls = pieces({ ...call, rest: { extra_content } }, { ...call, index: 1, id: 'b' })
    const received = callsIn(eventsOf('openai-compatible', delta({ reasoning_content }), ...calls))
    expect(received.map((event) => event.state)).toEqual([{ extra_content, reasoning_content }])
  })

  test.each([
    ['deepseek', { reasoning_content: 'Let me look.' }, { reasoning_content: 'Let me look.' }],
    ['openrouter', { reasoning_details: [1] }, { reasoning_details: [1] }],
    ['openai-compatible', { extra_content: 2 }, { tool_calls: [{ extra_content: 2 }] }],
    ['openai-compatible', { reasoning_content: 'Let me look.' }, { reasoning_content: 'Let me look.' }],
    ['zai', { reasoning_content: 'Let me look.' }, { reasoning_content: 'Let me look.' }],
    ['fireworks', { reasoning_content: 'Let me look.' }, { reasoning_content: 'Let me look.' }],
    ['together', { reasoning: 'Let me look.' }, { reasoning: 'Let me look.' }],
    ['cerebras', { reasoning: 'Let me look.' }, { reasoning: 'Let me look.' }],
    ['vllm', { reasoning: 'Let me look.' }, { reasoning: 'Let me look.' }],
    ['ollama', { reasoning: 'Let me look.' }, { reasoning: 'Let me look.' }],
  ])('is sent back to %s', (kind, state, expected) => {
    expect(assistantOf(kind, state)).toMatchObject(expected)
  })

  test('is sent back with the id that the provider gave to the call', () => {
    const idOf = (id: string) => assistantOf('vllm', { reasoning: 'Let me look.', id })
    expect(idOf('f:0')).toMatchObject({ reasoning: 'Let me look.', tool_calls: [{ id: 'f:0' }] })
    expect(idOf('f:0')).not.toHaveProperty('id')
    // Longer than what was reserved for it.
    expect(idOf('functions.f:0')).toMatchObject({ tool_calls: [{ id: 'call_1' }] })
  })

  test('is empty for DeepSeek where it was lost, with a warning, unless reasoning is disabled', () => {
    const warnings: string[] = []
    expect(assistantOf('deepseek', undefined, { warnings })).toMatchObject({ reasoning_content: '' })
    expect(warnings).toEqual([
      'The reasoning of an earlier tool call is not available; deepseek continues without it.',
    ])
    const silent = assistantOf('deepseek', undefined, { effort: 'none' })
    expect(silent).not.toHaveProperty('reasoning_content')
  })

  test('is marked as lost for Google’s newer models at OpenRouter, and for no others', () => {
    const warnings: string[] = []
    const lost = assistantOf('openrouter', undefined, { warnings, model: 'google/gemini-3-pro' })
    expect(lost).toMatchObject({
      reasoning_details: [{ data: 'skip_thought_signature_validator', id: 'call_1' }],
    })
    expect(warnings).toHaveLength(1)
    expect(assistantOf('openrouter', undefined)).not.toHaveProperty('reasoning_details')
  })

  test.each(['openai', 'mistral', 'groq'])('is not sent to %s, which never asked for it', (kind) => {
    const text = JSON.stringify(assistantOf(kind, { reasoning_content: 'secret', extra_content: 'secret' }))
    expect(text).not.toContain('secret')
  })
})

type Telling = { readonly effort?: Effort; readonly warnings?: string[]; readonly model?: string }

function assistantOf(kind: string, state?: object, telling: Telling = {}): unknown {
  const { effort, warnings = [], model = 'm' } = telling
  const kept = state && JSON.parse(JSON.stringify(state))
  const toolCalls = [{ id: 'call_1', name: 'f', arguments: '{}', state: kept }]
  const generation = {
    messages: [{ role: 'assistant', parts: [], toolCalls }],
    tools: [],
    effort,
    extras: {},
  } as const
  const target = { model, stream: false }
  const body = protocolNamed(kind).render(generation, target, (message) => warnings.push(message))
  return (body.messages as unknown[])[0]
}
