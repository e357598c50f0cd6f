import { describe, expect, test } from 'bun:test'
import type { GenerationEvent } from '../../../../src/domain/generation/events.ts'
import { responses } from '../../../../src/providers/protocols/responses/protocol.ts'
import { readStream } from './support/parsed-reply.ts'
import { expectOrderlyCalls } from './support/call-events.ts'

type Item = Readonly<Record<string, unknown>>

const call = (call_id: string, rest: object = {}): Item => ({
  type: 'function_call',
  call_id,
  name: 'open_gate',
  arguments: '{"cm":4}',
  ...rest,
})
const added = (output_index: number, item: Item) => {
  return { type: 'response.output_item.added', output_index, item: { ...item, arguments: '' } }
}
const fragment = (output_index: number, delta: string, item_id = 'other') => {
  return { type: 'response.function_call_arguments.delta', output_index, item_id, delta }
}
const done = (output_index: number, item: Item) => ({
  type: 'response.output_item.done',
  output_index,
  item,
})
const completed = (...output: Item[]) => {
  return { type: 'response.completed', response: { status: 'completed', output } }
}

function eventsIn(input: readonly object[]): GenerationEvent[] {
  const body = input.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
  return readStream(responses, Buffer.from(body))
}

describe('the tool calls of a streamed response', () => {
  test('start with their item and grow with each fragment, also when they interleave', () => {
    const [first, second] = [call('call_abc12345'), call('call_def67890', { name: 'read' })]
    const input = [
      added(0, first),
      added(1, second),
      fragment(1, '{"cm"'),
      fragment(0, '{"cm":4}'),
      done(0, first),
      fragment(1, ':4}'),
      done(1, second),
      completed(first, second),
    ]
    expect(eventsIn(input)).toEqual([
      { type: 'tool-call-begin', choice: 0, index: 0, id: 'call_abc12345', name: 'open_gate' },
      { type: 'tool-call-begin', choice: 0, index: 1, id: 'call_def67890', name: 'read' },
      { type: 'tool-call-delta', choice: 0, index: 1, arguments: '{"cm"' },
      { type: 'tool-call-delta', choice: 0, index: 0, arguments: '{"cm":4}' },
      expect.objectContaining({ type: 'tool-call', index: 0 }),
      { type: 'tool-call-delta', choice: 0, index: 1, arguments: ':4}' },
      expect.objectContaining({ type: 'tool-call', index: 1 }),
      { type: 'finish', choice: 0, reason: 'tool_calls' },
    ])
  })

  test('are found by the id of their item where they have no index', () => {
    const item = call('call_abc12345', { id: 'fc_1' })
    const place = { output_index: undefined }
    const input = [added(0, item), fragment(0, '{"cm"', 'fc_1'), done(0, item)].map((event) => ({
      ...event,
      ...place,
    }))
    const events = eventsIn([...input, completed(item)])
    expect(expectOrderlyCalls(events)).toEqual([])
    expect(
      events.filter((event) => event.type === 'tool-call-delta').map((event) => event.arguments),
    ).toEqual(['{"cm"', ':4}'])
  })

  test('that have started end with the response where no event of their own ends them', () => {
    const item = call('call_0')
    const events = eventsIn([added(0, item), fragment(0, '{"cm":'), completed(item)])
    expect(expectOrderlyCalls(events)).toEqual([])
    expect(events.filter((event) => event.type === 'tool-call')).toHaveLength(1)
  })

  test.each([
    ['{"cm": 4}', '{"cm":4}', '{"cm": 4}'],
    ['{"cm":4}', '', '{"cm":4}'],
    ['{"cm":4}', undefined, '{"cm":4}'],
    ['{"c', '{"cm":4}', '{"cm":4}'],
  ])('that were streamed as %p and then repeated as %p are %p', (streamed, received, expected) => {
    const item = call('call_abc12345', { arguments: received })
    const events = eventsIn([added(0, item), fragment(0, streamed), done(0, item), completed(item)])
    expect(expectOrderlyCalls(events)).toEqual([])
    expect(events.findLast((event) => event.type === 'tool-call')?.call.arguments).toBe(expected)
  })

  test('that the output limit interrupted start and never end', () => {
    const item = call('call_abc12345', { arguments: '{"c', status: 'incomplete' })
    const end = { type: 'response.incomplete', response: { status: 'incomplete', output: [item] } }
    const events = eventsIn([added(0, item), fragment(0, '{"c'), done(0, item), end])
    expect(expectOrderlyCalls(events)).toMatchObject([{ name: 'open_gate', text: '{"c' }])
    expect(events.at(-1)).toMatchObject({ type: 'finish', reason: 'length' })
  })
})
