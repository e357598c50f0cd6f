import { describe, expect, test } from 'bun:test'
import type { ToolCallEvent } from '../../../../src/domain/generation/events.ts'
import { callIdFor, isCounterId } from '../../../../src/providers/protocols/tool-call.ts'
import { delta, eventsOf, protocolNamed } from './support/chunks.ts'

test('a new call id is long, random and in the format that every provider accepts', () => {
  expect(callIdFor(undefined, 'search', false)).toMatch(/^call_[A-Za-z0-9]{24}$/)
  expect(callIdFor(undefined, 'search', false)).not.toBe(callIdFor(undefined, 'search', false))
})

test.each([
  '',
  '0',
  'call_',
  'call_0',
  'call0',
  'call_0_12',
  'tool_0_search',
  'functions.search:12',
  'search-3',
  'chatcmpl-tool-999',
])('the id %p is only a counter within its reply', (id) => {
  expect(isCounterId({ id, name: 'search' })).toBe(true)
})

test.each([
  'call_abc12345',
  'call_46063',
  '0usajhl5',
  'D681PevKs',
  'toolu_01A09q90qw90lq917835lq9',
  'chatcmpl-tool-0b2c3d4e5f60718293a4b5c6d7e8f901',
  'call-2287d3de-269c-416e-a172-6e4ecc95e9ec-0',
  'tool_0_search_x7Kp2mQ9',
])('the id %p is unique', (id) => {
  expect(isCounterId({ id, name: 'search' })).toBe(false)
})

test('a name with digits in it does not make a counter a unique id', () => {
  expect(isCounterId({ id: 'tool_1_sha256_of_2026x7', name: 'sha256_of_2026x7' })).toBe(true)
})

describe('a call with state to store and a counter as its id', () => {
  const own = /^call_[A-Za-z0-9]{24}$/

  test('gets a unique id at OpenRouter, and keeps its own for the next turn; the other calls of the reply stay unchanged', () => {
    const piece = (index: number) => {
      return { index, id: `tool_${index}_f`, function: { name: 'f', arguments: '{}' } }
    }
    const details = [0, 1].map((index) => ({ type: 'reasoning.encrypted', id: `tool_${index}_f`, index }))
    const reasoning = delta({ reasoning_details: details })
    const input = [reasoning, delta({ tool_calls: [piece(0), piece(1)] }), delta({}, 'tool_calls'), '[DONE]']
    const [first, second] = callsIn(eventsOf('openrouter', ...input))
    expect(first?.call.id).toMatch(own)
    expect(first?.state as unknown).toEqual({ reasoning_details: details, id: 'tool_0_f' })
    expect(second).toEqual({
      type: 'tool-call',
      choice: 0,
      index: 1,
      call: { id: 'tool_1_f', name: 'f', arguments: '{}' },
    })
  })

  test('starts with its unique id where its state arrives later', () => {
    const call = { index: 0, id: 'tool_0_f', function: { name: 'f', arguments: '{}' } }
    const detail = { type: 'reasoning.encrypted', id: 'tool_0_f', index: 0 }
    const after = [delta({ reasoning_details: [detail] }), delta({}, 'tool_calls'), '[DONE]']
    const events = eventsOf('openrouter', delta({ tool_calls: [call] }), ...after)
    const [received] = callsIn(events)
    expect(received?.call.id).toMatch(own)
    expect(events[0]).toMatchObject({ type: 'tool-call-begin', id: received?.call.id })
    expect(received?.state as unknown).toEqual({ reasoning_details: [detail], id: 'tool_0_f' })
  })

  test('stores nothing where it has started with its counter and its state arrives later', () => {
    const call = { index: 0, id: 'call_0', function: { name: 'f', arguments: '' } }
    const later = { index: 0, extra_content: { google: 1 }, function: { arguments: '{}' } }
    const pieces = [call, later].map((piece) => delta({ tool_calls: [piece] }))
    const [received] = callsIn(eventsOf('openai-compatible', ...pieces, delta({}, 'tool_calls'), '[DONE]'))
    expect(received?.call.id).toBe('call_0')
    expect(received).not.toHaveProperty('state')
  })

  test('gets a unique id where Google’s signature came with it', () => {
    const google = { google: { thought_signature: 'QUJD' } }
    const call = { index: 0, id: 'call_0', extra_content: google, function: { name: 'f', arguments: '{}' } }
    const [received] = callsIn(eventsOf('bedrock', delta({ tool_calls: [call] }, 'tool_calls'), '[DONE]'))
    expect(received).toMatchObject({
      call: { id: expect.stringMatching(own) },
      state: { extra_content: google },
    })
  })

  test('gets a unique id at Gemini and at providers of the Anthropic protocol', () => {
    const part = { functionCall: { name: 'f', id: 'call_0' }, thoughtSignature: 'QUJD' }
    const candidates = [{ content: { parts: [part] }, finishReason: 'STOP' }]
    expect(callsIn(protocolNamed('gemini').parse({ candidates }))[0]?.call.id).toMatch(own)
    const thinking = { type: 'thinking', thinking: 'Hm', signature: 'QUJD' }
    const content = [thinking, { type: 'tool_use', id: 'f:0', name: 'f', input: {} }]
    expect(callsIn(protocolNamed('anthropic').parse({ content }))[0]?.call.id).toMatch(own)
  })

  test('keeps its id where there is no state to store', () => {
    const call = { index: 0, id: 'call_0', function: { name: 'f', arguments: '{}' } }
    const calling = [delta({ tool_calls: [call] }, 'tool_calls'), '[DONE]']
    expect(callsIn(eventsOf('openai-compatible', ...calling))[0]?.call.id).toBe('call_0')
    const candidates = [{ content: { parts: [{ functionCall: { name: 'f', id: 'call_0' } }] } }]
    expect(callsIn(protocolNamed('gemini').parse({ candidates }))[0]?.call.id).toBe('call_0')
  })
})

function callsIn(events: readonly { readonly type: string }[]): ToolCallEvent[] {
  return events.filter((event): event is ToolCallEvent => event.type === 'tool-call')
}
