import { describe, expect, test } from 'bun:test'
import type { GenerationEvent, ToolCallEvent } from '../../../../src/domain/generation/events.ts'
import {
  streamParser,
  type StreamState,
} from '../../../../src/providers/protocols/openai-chat/parse-response.ts'
import { expectOrderlyCalls } from './support/call-events.ts'
import { delta, eventsOf } from './support/chunks.ts'

type Piece = { index?: number; id?: string; name?: string; text?: string }

const pieces = (...all: Piece[]) =>
  all.map(({ index, id, name, text }) =>
    delta({ tool_calls: [{ index, id, function: { name, arguments: text } }] }),
  )
const finished = delta({}, 'tool_calls')
const callsIn = (events: readonly GenerationEvent[]) =>
  events.filter((event): event is ToolCallEvent => event.type === 'tool-call')

describe('the tool calls of a stream', () => {
  test('start and grow with every delta, also when they interleave', () => {
    const input = pieces(
      { index: 3, id: 'a', name: 'f' },
      { index: 7, id: 'b', name: 'g', text: '[' },
      { index: 3, text: '[1' },
      { index: 7, text: '2]' },
      { index: 3, text: ']' },
    )
    expect(eventsOf('openai', ...input, finished, '[DONE]')).toEqual([
      { type: 'tool-call-begin', choice: 0, index: 0, id: 'a', name: 'f' },
      { type: 'tool-call-begin', choice: 0, index: 1, id: 'b', name: 'g' },
      { type: 'tool-call-delta', choice: 0, index: 1, arguments: '[' },
      { type: 'tool-call-delta', choice: 0, index: 0, arguments: '[1' },
      { type: 'tool-call-delta', choice: 0, index: 1, arguments: '2]' },
      { type: 'tool-call-delta', choice: 0, index: 0, arguments: ']' },
      { type: 'tool-call', choice: 0, index: 0, call: { id: 'a', name: 'f', arguments: '[1]' } },
      { type: 'tool-call', choice: 0, index: 1, call: { id: 'b', name: 'g', arguments: '[2]' } },
      { type: 'ending', choice: 0 },
      { type: 'finish', choice: 0, reason: 'tool_calls' },
    ])
  })

  test('start when their name has arrived, with the arguments before it', () => {
    const input = pieces({ index: 0, id: 'a', text: '{"x"' }, { index: 0, name: 'f', text: ':1}' })
    expect(eventsOf('openai', ...input)).toMatchObject([
      { type: 'tool-call-begin', id: 'a', name: 'f' },
      { type: 'tool-call-delta', arguments: '{"x":1}' },
      { type: 'failure' },
    ])
  })

  test('without a name never start, and leave no gap', () => {
    const input = pieces({}, { index: 4, text: '{' }, { index: 0, id: 'a', name: 'f', text: '{}' })
    const events = eventsOf('openai', ...input, finished, '[DONE]')
    expect(expectOrderlyCalls(events)).toEqual([])
    expect(callsIn(events).map((event) => [event.index, event.call.id])).toEqual([[0, 'a']])
  })

  test('with blank arguments have one fragment, which is {}', () => {
    const input = pieces({ index: 0, id: 'a', name: 'f', text: ' ' }, { index: 0, text: '\n' })
    const events = eventsOf('openai', ...input, finished, '[DONE]')
    expect(events.filter((event) => event.type === 'tool-call-delta')).toMatchObject([{ arguments: '{}' }])
    expect(expectOrderlyCalls(events)).toEqual([])
  })

  test('that have ended ignore later fragments', () => {
    const input = pieces({ index: 0, id: 'a', name: 'f', text: '{}' }, { index: 1, id: 'b', name: 'g' })
    const late = pieces({ index: 0, text: ' ' }, { index: 1, text: '{}' })
    const events = eventsOf(
      'openai',
      ...input,
      ...late,
      finished,
      ...pieces({ index: 1, text: 'x' }),
      '[DONE]',
    )
    expect(expectOrderlyCalls(events)).toEqual([])
    expect(callsIn(events).map((event) => event.call.arguments)).toEqual(['{}', '{}'])
  })

  test('start and grow immediately also where their provider state arrives at the end', () => {
    const input = pieces({ index: 0, id: 'a', name: 'f', text: '{}' }, { index: 1, id: 'b', name: 'g' })
    const types = (...chunks: (object | string)[]): string[] =>
      eventsOf('deepseek', ...chunks).map((event) => event.type)
    const opening = ['tool-call-begin', 'tool-call-delta', 'tool-call-begin']
    expect(types(...input)).toEqual([...opening, 'failure'])
    const ended = ['tool-call', 'tool-call-delta', 'tool-call', 'ending', 'finish']
    expect(types(...input, finished, '[DONE]')).toEqual([...opening, ...ended])
  })
})

test('a piece copies none of the other calls of its choice', () => {
  const count = 1024
  const named = Array.from({ length: count }, (_, index) => ({ index, id: `id_${index}x`, name: 'f' }))
  const others = named.map(({ index }) => ({ index, text: '[1' }))
  const parser = streamParser({ name: 'plain' })
  let state: StreamState = parser.initial()
  const lists = new Set<unknown>()
  for (const chunk of pieces(...named, ...others)) {
    ;({ state } = parser.step(state, { event: '', data: JSON.stringify(chunk) }))
    lists.add(state.choices[0]?.calls?.begun)
  }
  expect(state.choices[0]?.calls?.begun).toHaveLength(count)
  expect(lists.size).toBe(1)
})
