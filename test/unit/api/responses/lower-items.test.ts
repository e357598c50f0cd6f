import { expect, test } from 'bun:test'
import type { Item } from '../../../../src/api/responses/request/items.ts'
import { lowered, rejection, textPart } from './support/lower-fixtures.ts'

const messagesOf = (input: unknown, context: readonly Item[] = []) =>
  lowered({ input }, context).generation.messages as unknown

const says = (content: unknown) => [{ role: 'user', content }]
const partsOf = (part: unknown) => lowered({ input: says([part, { type: 'input_text', text: '.' }]) })

test.each([
  ['system', { role: 'system', parts: [textPart('a')] }],
  ['developer', { role: 'developer', parts: [textPart('a')] }],
  ['user', { role: 'user', parts: [textPart('a')] }],
  ['assistant', { role: 'assistant', parts: [textPart('a')], toolCalls: [] }],
])('a message by %s is lowered, and its other properties are ignored', (role, expected) => {
  const item = { role, content: 'a', id: 'msg_1', status: 'completed', phase: 'final' }
  expect(messagesOf([item])).toEqual([expected])
})

test('earlier messages come first, in their order', () => {
  const context = [
    { id: 'a', type: 'message', role: 'user', content: 'one' },
    { id: 'b', type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'two' }] },
  ]
  expect(messagesOf('three', context)).toEqual([
    { role: 'user', parts: [textPart('one')] },
    { role: 'assistant', parts: [textPart('two')], toolCalls: [] },
    { role: 'user', parts: [textPart('three')] },
  ])
})

const image = { type: 'image', url: 'data:,' }

test.each([
  [{ type: 'input_text', text: 'a' }, textPart('a')],
  [{ type: 'output_text', text: 'a', annotations: [{}], logprobs: [] }, textPart('a')],
  [{ type: 'text', text: 'a' }, textPart('a')],
  [{ type: 'refusal', refusal: 'No.' }, textPart('No.')],
  [
    { type: 'input_text', text: 'a', cache_control: { type: 'ephemeral' } },
    { ...textPart('a'), extras: { cache_control: { type: 'ephemeral' } } },
  ],
  [{ type: 'input_image', image_url: 'data:,', detail: null, file_id: null }, image],
  [
    { type: 'input_image', image_url: { url: 'data:,' }, detail: 'low' },
    { ...image, detail: 'low' },
  ],
  [{ type: 'image_url', image_url: { url: 'data:,' } }, image],
  [
    { type: 'input_file', file_data: 'data:,', filename: 'a.pdf', file_id: null },
    { type: 'foreign', value: { type: 'file', file: { file_data: 'data:,', filename: 'a.pdf' } } },
  ],
  [
    { type: 'input_file', file_url: 'https://a' },
    { type: 'foreign', value: { type: 'file', file: { file_data: 'https://a' } } },
  ],
  [
    { type: 'input_audio', input_audio: { data: 'a', format: 'wav' } },
    { type: 'foreign', value: { type: 'input_audio', input_audio: { data: 'a', format: 'wav' } } },
  ],
])('the part %j is lowered', (part, expected) => {
  const { generation, warnings } = partsOf(part)
  expect(generation.messages[0]?.parts as unknown).toEqual([expected, textPart('.')])
  expect(warnings).toEqual([])
})

test('an image without a source is ignored with a warning', () => {
  const { generation, warnings } = partsOf({ type: 'input_image' })
  expect(generation.messages[0]?.parts).toEqual([textPart('.')])
  expect(warnings).toEqual(['Images without `image_url` are not supported and were ignored.'])
})

test.each([
  [{ type: 'input_image', file_id: 'file-1' }, 'input[0].content[0].file_id'],
  [{ type: 'input_file', file_id: 'file-1' }, 'input[0].content[0].file_id'],
  [{ type: 'file', file: { file_id: 'file-1' } }, 'input[0].content[0].file.file_id'],
  [{ type: 'album', items: [{}, { source: { fileId: 'f' } }] }, 'input[0].content[0].items[1].source.fileId'],
  [{ type: 'code', container_id: 'c' }, 'input[0].content[0].container_id'],
])('the file of %j is rejected', (part, param) => {
  const error = rejection({ input: says([part]) })
  expect([error.status, error.param, error.code]).toEqual([400, param, 'unsupported_parameter'])
})

test('reasoning that is sent back is dropped without a warning', () => {
  const reasoning = { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm.' }] }
  expect(lowered({ input: [reasoning, ...says('a')] })).toEqual(lowered({ input: says('a') }))
})

test('items of unknown types are ignored, and each type is named once', () => {
  const items = [{ type: 'telegram' }, { type: 'web_search_call' }, { type: 'telegram' }, ...says('a')]
  const { generation, warnings } = lowered({ input: items })
  expect(generation.messages).toHaveLength(1)
  expect(warnings).toEqual([
    'Item types `telegram` and `web_search_call` are not supported and were ignored.',
  ])
})

test('thousands of unknown types are one short warning', () => {
  const types = Array.from({ length: 5000 }, (_, index) => ({ type: `${index} `.repeat(50) }))
  const { warnings } = lowered({ input: [...types, ...says('a')] })
  expect(warnings).toHaveLength(1)
  expect(warnings[0]!.length).toBeLessThan(600)
})
