import { expect, test } from 'bun:test'
import type { GenerationEvent } from '../../../../src/domain/generation/events.ts'
import { responses } from '../../../../src/providers/protocols/responses/protocol.ts'
import type { Protocol } from '../../../../src/providers/protocols/protocol.ts'
import { delta, protocolNamed } from './support/chunks.ts'

/** A call of a megabyte. */
const count = 100_000
const fragment = '0123456789'
const text = `["${fragment.repeat(count)}"]`
const fragments = ['["', ...Array<string>(count).fill(fragment), '"]']

const piece = (index: number, fields: object, rest: object = {}) =>
  delta({ tool_calls: [{ index, function: fields, ...rest }] })
const finished = [delta({}, 'tool_calls'), '[DONE]']
const begin = (index: number) => piece(index, { name: 'f', arguments: '' }, { id: `call_${index}x` })
const id = 'call_abc12345'
const block = { type: 'tool_use', id: 'toolu_01abcdef', name: 'f', input: {} }
const item = { type: 'function_call', id: 'fc_1', call_id: id, name: 'f' }

const streams: [string, Protocol, readonly (object | string)[]][] = [
  [
    'in plain fragments',
    protocolNamed('openai'),
    [begin(0), ...fragments.map((text) => piece(0, { arguments: text })), ...finished],
  ],
  [
    'in fragments that each repeat the name',
    protocolNamed('openai'),
    [...fragments.map((text) => piece(0, { name: 'f', arguments: text }, { id })), ...finished],
  ],
  [
    'in fragments between those of another',
    protocolNamed('openai'),
    [
      begin(0),
      begin(1),
      ...fragments.flatMap((text) => [0, 1].map((index) => piece(index, { arguments: text }))),
      ...finished,
    ],
  ],
  [
    'of Anthropic',
    protocolNamed('anthropic'),
    [
      { type: 'content_block_start', index: 0, content_block: block },
      ...fragments.map((text) => {
        return { type: 'content_block_delta', delta: { type: 'input_json_delta', partial_json: text } }
      }),
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
      { type: 'message_stop' },
    ],
  ],
  [
    'of the Responses API',
    responses,
    [
      { type: 'response.output_item.added', output_index: 0, item: { ...item, arguments: '' } },
      ...fragments.map((text) => {
        return {
          type: 'response.function_call_arguments.delta',
          output_index: 0,
          item_id: 'fc_1',
          delta: text,
        }
      }),
      { type: 'response.output_item.done', output_index: 0, item: { ...item, arguments: text } },
      { type: 'response.completed', response: { status: 'completed', output: [] } },
    ],
  ],
]

test.each(streams)(
  'a tool call of a megabyte %s is parsed in time that grows with its length',
  (_, protocol, input) => {
    const events: GenerationEvent[] = []
    let state = protocol.stream.initial()
    for (const one of input) {
      const data = typeof one === 'string' ? one : JSON.stringify(one)
      const step = protocol.stream.step(state, { event: '', data })
      state = step.state
      events.push(...step.events)
    }
    events.push(...protocol.stream.end(state))
    for (const event of events) if (event.type === 'tool-call') expect(event.call.arguments).toBe(text)
    expect(events.filter((event) => event.type === 'tool-call-delta').length).toBeGreaterThanOrEqual(count)
    expect(events.at(-1)).toMatchObject({ type: 'finish', reason: 'tool_calls' })
  },
)
