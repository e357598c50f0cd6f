import { describe, expect, test } from 'bun:test'
import { type BlockOptions, type OutputBlock } from '../../../../src/api/messages/blocks.ts'
import { lowerMessages } from '../../../../src/api/messages/lower-messages.ts'
import { BlockFold, BlockReducer } from '../../../../src/api/messages/message-stream.ts'
import { messageRequest } from '../../../../src/api/messages/schema.ts'
import type { GenerationEvent } from '../../../../src/domain/generation/events.ts'
import { openSealedState, sealState } from '../../../../src/domain/generation/sealed-state.ts'
import type { Json } from '../../../../src/lib/json/json.ts'
import { ValueBudget } from '../../../../src/lib/validation/value-budget.ts'

const shown: BlockOptions = { provider: 'acme', thinking: 'shown' }
const choice = 0
const thought: GenerationEvent = { type: 'reasoning', choice, text: 'Hm.' }
const text: GenerationEvent = { type: 'text', choice, text: 'I look.' }

/** A complete call, with its state in its begin unless that comes late. */
function call(index: number, state?: Json, late = false): readonly GenerationEvent[] {
  const [id, name] = [`call_${index}`, 'f']
  const begin = { type: 'tool-call-begin', choice, index, id, name } as const
  const end = { type: 'tool-call', choice, index, call: { id, name, arguments: '{}' } } as const
  return [
    state === undefined || late ? begin : { ...begin, state },
    { type: 'tool-call-delta', choice, index, arguments: '{}' },
    state === undefined ? end : { ...end, state },
  ]
}

function blocksOf(events: readonly GenerationEvent[], options = shown): readonly OutputBlock[] {
  const reducer = new BlockReducer(options)
  const fold = new BlockFold()
  fold.add([...reducer.add(events), ...reducer.end()])
  return fold.blocks()
}

const signature = (state: Json, callId?: string) => sealState({ provider: 'acme', state, callId })
const thinking = (words: string, sealed: string) => ({
  type: 'thinking',
  thinking: words,
  signature: sealed,
})
const toolUse = (index: number) => ({ type: 'tool_use', id: `call_${index}`, name: 'f', input: {} })
const state = { thoughtSignature: 'c2ln' }
const other = { thoughtSignature: 'b3RoZXI=' }

describe('the state that is received with a tool call', () => {
  const cases: readonly (readonly [string, readonly GenerationEvent[], readonly object[]])[] = [
    [
      'signs the thinking before the call',
      [thought, ...call(0, state), ...call(1)],
      [thinking('Hm.', signature(state, 'call_0')), toolUse(0), toolUse(1)],
    ],
    [
      'signs thinking without text where there is none',
      call(0, state),
      [thinking('', signature(state, 'call_0')), toolUse(0)],
    ],
    [
      'signs thinking without text where a text is in between',
      [thought, text, ...call(0, state)],
      [
        thinking('Hm.', signature(null)),
        { type: 'text', text: 'I look.' },
        thinking('', signature(state, 'call_0')),
        toolUse(0),
      ],
    ],
    [
      'is before each call that has one',
      [...call(0, state), ...call(1), ...call(2, other)],
      [
        thinking('', signature(state, 'call_0')),
        toolUse(0),
        toolUse(1),
        thinking('', signature(other, 'call_2')),
        toolUse(2),
      ],
    ],
    [
      'is before its call where calls interleave',
      [...call(0, state).slice(0, 2), ...call(1, other), ...call(0, state).slice(2)],
      [
        thinking('', signature(state, 'call_0')),
        toolUse(0),
        thinking('', signature(other, 'call_1')),
        toolUse(1),
      ],
    ],
    [
      'is in no block where it is only known at the end of the call',
      [thought, ...call(0, state, true)],
      [thinking('Hm.', signature(null)), toolUse(0)],
    ],
  ]
  test.each([...cases])('%s', (_, events, content) => {
    expect<unknown>(blocksOf(events)).toEqual(content)
  })

  test('is sealed where thinking is omitted, and has no block where it is hidden', () => {
    const events = [thought, ...call(0, state)]
    expect<unknown>(blocksOf(events, { ...shown, thinking: 'omitted' })).toEqual([
      thinking('', signature(state, 'call_0')),
      toolUse(0),
    ])
    expect<unknown>(blocksOf(events, { ...shown, thinking: 'hidden' })).toEqual([toolUse(0)])
  })

  test('makes a stream whose blocks begin and end one after the other', () => {
    const reducer = new BlockReducer(shown)
    const out = [...reducer.add([thought, ...call(0, state), ...call(1, other)]), ...reducer.end()]
    const block = (index: number, ...deltas: string[]) => [
      ['content_block_start', index],
      ...deltas.map((type) => [type, index]),
      ['content_block_stop', index],
    ]
    expect<unknown>(
      out.map((event) => ['delta' in event ? event.delta.type : event.type, event.index]),
    ).toEqual([
      ...block(0, 'thinking_delta', 'signature_delta'),
      ...block(1, 'input_json_delta'),
      ...block(2, 'signature_delta'),
      ...block(3, 'input_json_delta'),
    ])
  })
})

describe('the state of a tool call in the signature of thinking', () => {
  const stateful = (id: string, value: Json) => ({ ...plain(id), provider: 'acme', state: value })
  const plain = (id: string) => ({ id, name: 'f', arguments: '{}' })
  const turn = (...content: readonly object[]) => ({ role: 'assistant', content })
  const callsOf = (...messages: readonly object[]) => {
    const request = messageRequest.read({ model: 'a', max_tokens: 10, messages })
    return lowerMessages(request).flatMap((message) =>
      message.role === 'assistant' ? message.toolCalls : [],
    )
  }

  test('is restored from the blocks as they were received', () => {
    const content = blocksOf([thought, text, ...call(0, state), ...call(1), ...call(2, other)])
    expect<unknown>(callsOf(turn(...content))).toEqual([
      stateful('call_0', state),
      plain('call_1'),
      stateful('call_2', other),
    ])
  })

  test('belongs to its call wherever the block is, also for clients that divide a turn', () => {
    const seal = thinking('', signature(state, 'call_1'))
    const expected = [plain('call_0'), stateful('call_1', state)]
    expect<unknown>(callsOf(turn(seal, toolUse(0), toolUse(1)))).toEqual(expected)
    expect<unknown>(callsOf(turn(seal), turn(toolUse(0)), turn(toolUse(1)))).toEqual(expected)
  })

  test('goes before the reasoning of the next call, and to no other call', () => {
    const reasoning = thinking('', signature({ reasoning: [1] }))
    const own = thinking('', signature(state, 'call_0'))
    expect<unknown>(callsOf(turn(reasoning, own, toolUse(0), toolUse(0), toolUse(1)))).toEqual([
      stateful('call_0', state),
      plain('call_0'),
      plain('call_1'),
    ])
    expect<unknown>(callsOf(turn(own, toolUse(1)))).toEqual([plain('call_1')])
  })

  test.each([
    ['damaged', signature(state, 'call_0').slice(0, -9)],
    ['empty', signature(null, 'call_0')],
    ['no state', signature('c2ln', 'call_0')],
    ['too long', signature({ thoughtSignature: 'x'.repeat(4 * 1024 * 1024) }, 'call_0')],
  ])('is ignored where it is %s', (_, sealed) => {
    expect<unknown>(callsOf(turn(thinking('', sealed), toolUse(0)))).toEqual([plain('call_0')])
  })

  test('names its provider and its call', () => {
    const [block] = blocksOf(call(0, state))
    expect(openSealedState(String(block?.signature), new ValueBudget('messages'))).toEqual({
      provider: 'acme',
      state,
      callId: 'call_0',
    })
  })
})
