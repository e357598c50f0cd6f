import { expect, test } from 'bun:test'
import type { Item } from '../../../../src/api/responses/request/items.ts'
import { lowered, textPart } from './support/lower-fixtures.ts'

const call = (id: string, fields: object = {}) => {
  return { type: 'function_call', call_id: id, name: 'read_level', arguments: '{}', ...fields }
}
const result = (id: string, output: unknown = '5 m') => {
  return { type: 'function_call_output', call_id: id, output }
}
const made = (id: string) => ({ id, name: 'read_level', arguments: '{}' })
const request = { role: 'user', content: 'How high?' }
const requested = { role: 'user', parts: [textPart('How high?')] }
const reply = (id: string) => ({ role: 'tool', callId: id, parts: [textPart('5 m')] })

const unpaired = 'Function calls without an output, and outputs without a function call, were ignored.'

const messagesOf = (input: readonly unknown[], context: readonly Item[] = []) =>
  lowered({ input }, context).generation.messages as unknown

test('a call and its result are lowered unchanged, and no tool is offered for them', () => {
  const { generation, warnings } = lowered({ input: [request, call('a'), result('a')] })
  expect(generation.messages as unknown).toEqual([
    requested,
    { role: 'assistant', parts: [], toolCalls: [made('a')] },
    reply('a'),
  ])
  expect(generation.tools).toEqual([])
  expect(warnings).toEqual([])
})

test('parallel calls are one turn, with the text before them', () => {
  const outputText = { role: 'assistant', content: 'Let me see.' }
  expect(messagesOf([request, outputText, call('a'), call('b'), result('a'), result('b')])).toEqual([
    requested,
    { role: 'assistant', parts: [textPart('Let me see.')], toolCalls: [made('a'), made('b')] },
    reply('a'),
    reply('b'),
  ])
})

test('text after a call, or between two, is of their turn: no message comes between a call and its result', () => {
  const said = (content: string) => ({ role: 'assistant', content })
  const merged = [
    requested,
    { role: 'assistant', parts: [textPart('\n'), textPart('And then.')], toolCalls: [made('a'), made('b')] },
    reply('a'),
    reply('b'),
  ]
  const calls = [call('a'), said('\n'), call('b'), said('And then.')]
  expect(messagesOf([request, ...calls, result('a'), result('b')])).toEqual(merged)
  const context = [request, ...calls].map((item): Item => ({ id: 'i', type: 'message', ...item }))
  expect(messagesOf([result('a'), result('b')], context)).toEqual(merged)
})

test('text after the results is a turn of its own', () => {
  const { generation } = lowered({
    input: [request, call('a'), result('a'), { role: 'assistant', content: 'It is 5 m.' }],
  })
  expect(generation.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
})

test('further outputs of a call are parts of its one result', () => {
  const messages = messagesOf([
    request,
    call('a'),
    call('b'),
    result('a', 'half way'),
    result('b'),
    result('a', 'done'),
  ])
  expect(messages).toEqual([
    requested,
    { role: 'assistant', parts: [], toolCalls: [made('a'), made('b')] },
    { role: 'tool', callId: 'a', parts: [textPart('half way'), textPart('done')] },
    reply('b'),
  ])
})

test('an id that another turn uses again has a result in each', () => {
  const { generation } = lowered({ input: [request, call('a'), result('a'), call('a'), result('a')] })
  expect(generation.messages.map(({ role }) => role)).toEqual([
    'user',
    'assistant',
    'tool',
    'assistant',
    'tool',
  ])
})

test('of the same call several times before its output, the last one is sent', () => {
  const { generation, warnings } = lowered({ input: [call('a'), request, call('a'), result('a')] })
  expect(generation.messages as unknown).toEqual([
    requested,
    { role: 'assistant', parts: [], toolCalls: [made('a')] },
    reply('a'),
  ])
  expect(warnings).toEqual([unpaired])
})

test('consecutive calls are turns of their own', () => {
  const roles = lowered({ input: [request, call('a'), result('a'), call('b'), result('b')] })
  expect(roles.generation.messages.map(({ role }) => role)).toEqual([
    'user',
    'assistant',
    'tool',
    'assistant',
    'tool',
  ])
})

test('a result of parts keeps them', () => {
  const parts = [
    { type: 'input_text', text: 'a' },
    { type: 'input_image', image_url: 'data:,' },
  ]
  const { generation } = lowered({ input: [call('a'), result('a', parts)] })
  expect(generation.messages[1]?.parts as unknown).toEqual([textPart('a'), { type: 'image', url: 'data:,' }])
})

test('a result may belong to a call of an earlier response', () => {
  const context = [{ id: 'fc_1', ...call('a') }]
  expect(messagesOf([result('a'), request], context)).toEqual([
    { role: 'assistant', parts: [], toolCalls: [made('a')] },
    reply('a'),
    requested,
  ])
})

test.each([
  ['a call without a result', [call('a')]],
  ['a result without a call', [result('a')]],
  ['a result before its call', [result('a'), call('a')]],
  ['a call without a name, and its result', [call('a', { name: undefined }), result('a')]],
  ['a call without arguments, and its result', [call('a', { arguments: {} }), result('a')]],
  ['a call without an id', [call('', { call_id: undefined }), { type: 'function_call_output' }]],
  ['a call of an empty id', [call(''), result('')]],
])('%s is ignored, because providers reject it', (_, items) => {
  const { generation, warnings } = lowered({ input: [request, ...items] })
  expect(generation.messages as unknown).toEqual([requested])
  expect(warnings).toEqual([unpaired])
})
