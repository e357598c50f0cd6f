import { type Accepted, type Refused, missing, wrongType, wrongWord } from './schema-case.ts'

const user = { role: 'user', content: 'a' }
const items = (...values: readonly unknown[]) => ({ input: [user, ...values] })
const part = (value: unknown) => items({ role: 'user', content: [{ type: 'input_text', text: 'a' }, value] })
const image = (fields: object) => part({ type: 'input_image', ...fields })
const roles = ['system', 'developer', 'user', 'assistant']

/** Input at the edge of what it may be; the item in question is the second one. */
export const accepted: readonly Accepted[] = [
  ['an empty input', { input: '' }],
  ['no items', { input: [] }],
  ...roles.flatMap((role): Accepted[] => [
    [`a message by ${role}`, items({ type: 'message', role, content: 'a' })],
    [`a message by ${role} without a type`, items({ role, content: 'a' })],
  ]),
  ['a message with null for a type', items({ ...user, type: null })],
  ['empty content', items({ role: 'user', content: '' })],
  ['no parts', items({ role: 'user', content: [] })],
  ['a message with free properties', items({ ...user, id: 'msg_1', status: null, phase: 'commentary' })],
  [
    'an earlier output',
    items({ role: 'assistant', id: 'a', content: [{ type: 'output_text', text: 'a', annotations: [] }] }),
  ],
  ['an echo of reasoning', items({ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: null })],
  ['a call and its result', items({ type: 'function_call' }, { type: 'function_call_output', output: 'a' })],
  ['an item of any type', items({ type: 'telegram', content: 5, role: 'bot' })],
  ['an item of an empty type', items({ type: '' })],
  ['a reference', items({ type: 'item_reference', id: 'msg_1' })],
  ['a reference with free properties', items({ type: 'item_reference', id: 'msg_1', status: 'completed' })],
  ['a reference without a type', items({ id: 'msg_1' })],
  ['a reference with null for a type', items({ type: null, id: 'msg_1' })],
  ['an empty text', part({ type: 'input_text', text: '' })],
  ['a text with free properties', part({ type: 'input_text', text: 'a', cache_control: {} })],
  ['an image of a type alone', image({})],
  ['an image', image({ image_url: 'data:,', detail: 'low', file_id: null })],
  ['an image of nulls', image({ image_url: null, detail: null, file_id: null })],
  ['an image in the form of chat completions', image({ image_url: { url: 'data:,' } })],
  ['an image of a file, which is rejected later', image({ file_id: 'file-1' })],
  ['a part of another type', part({ type: 'input_file', file_data: 'data:,', free: 1 })],
  ['a part of an empty type', part({ type: '' })],
  ['a lone surrogate', { input: '\ud800' }],
]

/** The same just beyond the edge. */
export const refused: readonly Refused[] = [
  ['no input', { input: undefined }, 'input', missing],
  ['a null input', { input: null }, 'input', wrongType],
  ['an input of a number', { input: 5 }, 'input', wrongType],
  ['an input of a message', { input: user }, 'input', wrongType],
  ['an item that is a string', items('a'), 'input[1]', wrongType],
  ['an item that is null', items(null), 'input[1]', wrongType],
  ['an item that is a list', items([user]), 'input[1]', wrongType],
  ['an empty item', items({}), 'input[1].role', missing],
  ['an item of a number for a type', items({ ...user, type: 5 }), 'input[1].type', wrongType],
  ['null for a type alone', items({ type: null }), 'input[1].role', missing],
  ['a typed message without a role', items({ type: 'message', content: 'a' }), 'input[1].role', missing],
  ['a typed message without content', items({ type: 'message', role: 'user' }), 'input[1].content', missing],
  ['a message without a role', items({ content: 'a', id: 'msg_1' }), 'input[1].role', missing],
  ['a message without content', items({ role: 'user', id: 'msg_1' }), 'input[1].content', missing],
  ['a message by a tool', items({ role: 'tool', content: 'a' }), 'input[1].role', wrongWord],
  ['a null role', items({ role: null, content: 'a' }), 'input[1].role', wrongType],
  ['null content', items({ role: 'assistant', content: null }), 'input[1].content', wrongType],
  ['content of a number', items({ role: 'user', content: 5 }), 'input[1].content', wrongType],
  ['content of an object', items({ role: 'user', content: {} }), 'input[1].content', wrongType],
  ['a reference without an id', items({ type: 'item_reference' }), 'input[1].id', missing],
  ['a reference to a number', items({ type: 'item_reference', id: 5 }), 'input[1].id', wrongType],
  [
    'a reference to nothing',
    items({ type: 'item_reference', id: '' }),
    'input[1].id',
    'string_below_min_length',
  ],
  ['a part of a string', part('a'), 'input[1].content[1]', wrongType],
  ['a part without a type', part({ text: 'a' }), 'input[1].content[1].type', missing],
  ['a part of a number for a type', part({ type: 5 }), 'input[1].content[1].type', wrongType],
  ['a text without text', part({ type: 'input_text' }), 'input[1].content[1].text', missing],
  ['a text of null', part({ type: 'input_text', text: null }), 'input[1].content[1].text', wrongType],
  ['an image of a number', image({ image_url: 5 }), 'input[1].content[1].image_url', wrongType],
  ['an image without a url', image({ image_url: {} }), 'input[1].content[1].image_url.url', missing],
  ['a detail of a number', image({ detail: 1 }), 'input[1].content[1].detail', wrongType],
  ['a file id of a number', image({ file_id: 1 }), 'input[1].content[1].file_id', wrongType],
]
