import { expect, test } from 'bun:test'
import { createToolEvents } from '../../../../src/api/responses/events/tool-events.ts'
import { openSealedState } from '../../../../src/domain/generation/sealed-state.ts'
import { ValueBudget } from '../../../../src/lib/validation/value-budget.ts'
import type { GenerationEvent } from '../../../../src/domain/generation/events.ts'
import { headOf } from './support/step-cases.ts'

const tools = [
  { type: 'function', name: 'measure' },
  { type: 'custom', name: 'shell' },
  { type: 'namespace', name: 'river', tools: [{ type: 'function', name: 'measure' }] },
]

const begin = (index: number, name = 'measure') =>
  ({ type: 'tool-call-begin', choice: 0, index, id: `c${index}`, name }) as const
const delta = (index: number, text: string) =>
  ({ type: 'tool-call-delta', choice: 0, index, arguments: text }) as const
const end = (index: number, text: string, name = 'measure') =>
  ({ type: 'tool-call', choice: 0, index, call: { id: `c${index}`, name, arguments: text } }) as const
const text = (words: string) => ({ type: 'text', choice: 0, text: words }) as const
const finish = { type: 'finish', choice: 0, reason: 'tool_calls' } as const

function converted(events: readonly GenerationEvent[], head: Parameters<typeof headOf>[0] = { tools }) {
  const conversion = createToolEvents(headOf(head))
  return events.flatMap((event) => conversion?.convert(event, 'acme') ?? [])
}

const call = (index: number) =>
  ({ type: 'call', kind: 'function_call', callId: `c${index}`, name: 'measure' }) as const

test('a response without tools and without the state of its reasoning needs no conversion', () => {
  expect(createToolEvents(headOf())).toBeUndefined()
})

test('a call begins, grows and ends', () => {
  expect(converted([text('Hm'), begin(0), delta(0, '{'), delta(0, '}'), end(0, '{}'), finish])).toEqual([
    { type: 'text', text: 'Hm' },
    call(0),
    { type: 'call-delta', text: '{' },
    { type: 'call-delta', text: '}' },
    { type: 'call-end' },
    { type: 'finish', reason: 'tool_calls' },
  ])
})

test('calls that are made at once follow one another, and what comes between them waits', () => {
  const events = [
    begin(0),
    begin(1),
    delta(1, '2'),
    delta(0, '1'),
    text('Hm'),
    end(1, '2'),
    end(0, '1'),
    finish,
  ]
  expect(converted(events)).toEqual([
    call(0),
    { type: 'call-delta', text: '1' },
    { type: 'call-end' },
    call(1),
    { type: 'call-delta', text: '2' },
    { type: 'call-end' },
    { type: 'text', text: 'Hm' },
    { type: 'finish', reason: 'tool_calls' },
  ])
})

test('calls that were cut off do not end, and nothing of them is lost', () => {
  const events = [begin(0), begin(1), delta(1, 'b'), delta(0, 'a'), text('Hm'), finish]
  expect(converted(events)).toEqual([
    call(0),
    { type: 'call-delta', text: 'a' },
    { type: 'text', text: 'Hm' },
    call(1),
    { type: 'call-delta', text: 'b' },
    { type: 'finish', reason: 'tool_calls' },
  ])
})

test('a call whose arguments are not JSON ends only if no token limit cut it off', () => {
  const events = [begin(0), delta(0, '{"a'), end(0, '{"a')]
  const types = (reason: 'length' | 'tool_calls') =>
    converted([...events, { ...finish, reason }]).map(({ type }) => type)
  expect(types('length')).toEqual(['call', 'call-delta', 'finish'])
  expect(types('tool_calls')).toEqual(['call', 'call-delta', 'call-end', 'finish'])
})

test('a custom tool gets its input as one text, also where the model wrote no JSON', () => {
  for (const [json, input] of [
    ['{"input":"ls \\"x\\""}', 'ls "x"'],
    ['ls', 'ls'],
    ['{"other":1}', '{"other":1}'],
  ] as const)
    expect(converted([begin(0, 'shell'), delta(0, json), end(0, json, 'shell')])).toEqual([
      { type: 'call', kind: 'custom_tool_call', callId: 'c0', name: 'shell' },
      { type: 'call-delta', text: input },
      { type: 'call-end' },
    ])
})

test('a call of a tool in a namespace has its own name and the namespace', () => {
  expect(converted([begin(0, 'river__measure')])).toEqual([{ ...call(0), namespace: 'river' }])
})

test('a call of a tool that does not exist is passed on', () => {
  expect(converted([begin(0, 'invented')])).toEqual([{ ...call(0), name: 'invented' }])
})

test('the state of reasoning is sealed with the name of its provider, where the request includes it', () => {
  const state = { thinking_blocks: ['x'] }
  const event = { type: 'reasoning-end', choice: 0, state } as const
  expect(converted([event])).toEqual([])
  const [sealed] = converted([event], { encrypted_reasoning: true })
  expect(sealed?.type).toBe('reasoning-end')
  if (sealed?.type === 'reasoning-end')
    expect(openSealedState(sealed.encrypted, new ValueBudget('input'))).toEqual({ provider: 'acme', state })
})

test('two thousand calls at once are converted without a deep stack', () => {
  const count = 2000
  const all = Array.from({ length: count }, (_, index) => index)
  const events = [...all.map((index) => begin(index)), ...all.map((index) => end(index, '{}'))]
  expect(converted(events).filter(({ type }) => type === 'call-end')).toHaveLength(count)
})

test('the state of a call follows it, unless the state of its reasoning came before', () => {
  const head = { tools, encrypted_reasoning: true } as const
  const ending = { ...end(0, '{}'), state: { signature: 's' } }
  const sealedIn = (events: readonly GenerationEvent[]) =>
    converted(events, head).map((event) =>
      event.type === 'reasoning-end'
        ? openSealedState(event.encrypted, new ValueBudget('input'))
        : event.type,
    )
  expect(sealedIn([begin(0), ending])).toEqual([
    'call',
    'call-end',
    { provider: 'acme', state: { signature: 's' }, callId: 'c0' },
  ])
  const reasoned = { type: 'reasoning-end', choice: 0, state: { signature: 's' } } as const
  expect(sealedIn([reasoned, begin(0), ending])).toEqual([
    { provider: 'acme', state: { signature: 's' } },
    'call',
    'call-end',
  ])
  expect(converted([begin(0), ending]).map(({ type }) => type)).toEqual(['call', 'call-end'])
})
