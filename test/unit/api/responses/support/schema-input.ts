import {
  type ValidCase,
  type InvalidCase,
  missingParameter,
  invalidType,
  invalidValue,
} from './schema-case.ts'

const user = { role: 'user', content: 'a' }
const items = (...values: readonly unknown[]) => ({ input: [user, ...values] })
const part = (value: unknown) => items({ role: 'user', content: [{ type: 'input_text', text: 'a' }, value] })
const image = (fields: object) => part({ type: 'input_image', ...fields })
const roles = ['system', 'developer', 'user', 'assistant']

/** Input at the edge of what it may be; the item in question is the second one. */
export const accepted: readonly ValidCase[] = [
  ['an empty input', { input: '' }],
  ['no items', { input: [] }],
  ...roles.flatMap((role): ValidCase[] => [
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
export const refused: readonly InvalidCase[] = [
  ['no input', { input: undefined }, 'input', missingParameter],
  ['a null input', { input: null }, 'input', invalidType],
  ['an input of a number', { input: 5 }, 'input', invalidType],
  ['an input of a message', { input: user }, 'input', invalidType],
  ['an item that is a string', items('a'), 'input[1]', invalidType],
  ['an item that is null', items(null), 'input[1]', invalidType],
  ['an item that is a list', items([user]), 'input[1]', invalidType],
  ['an empty item', items({}), 'input[1].role', missingParameter],
  ['an item of a number for a type', items({ ...user, type: 5 }), 'input[1].type', invalidType],
  ['null for a type alone', items({ type: null }), 'input[1].role', missingParameter],
  [
    'a typed message without a role',
    items({ type: 'message', content: 'a' }),
    'input[1].role',
    missingParameter,
  ],
  [
    'a typed message without content',
    items({ type: 'message', role: 'user' }),
    'input[1].content',
    missingParameter,
  ],
  ['a message without a role', items({ content: 'a', id: 'msg_1' }), 'input[1].role', missingParameter],
  ['a message without content', items({ role: 'user', id: 'msg_1' }), 'input[1].content', missingParameter],
  ['a message by a tool', items({ role: 'tool', content: 'a' }), 'input[1].role', invalidValue],
  ['a null role', items({ role: null, content: 'a' }), 'input[1].role', invalidType],
  ['null content', items({ role: 'assistant', content: null }), 'input[1].content', invalidType],
  ['content of a number', items({ role: 'user', content: 5 }), 'input[1].content', invalidType],
  ['content of an object', items({ role: 'user', content: {} }), 'input[1].content', invalidType],
  ['a reference without an id', items({ type: 'item_reference' }), 'input[1].id', missingParameter],
  ['a reference to a number', items({ type: 'item_reference', id: 5 }), 'input[1].id', invalidType],
  [
    'a reference to nothing',
    items({ type: 'item_reference', id: '' }),
    'input[1].id',
    'string_below_min_length',
  ],
  ['a part of a string', part('a'), 'input[1].content[1]', invalidType],
  ['a part without a type', part({ text: 'a' }), 'input[1].content[1].type', missingParameter],
  ['a part of a number for a type', part({ type: 5 }), 'input[1].content[1].type', invalidType],
  ['a text without text', part({ type: 'input_text' }), 'input[1].content[1].text', missingParameter],
  ['a text of null', part({ type: 'input_text', text: null }), 'input[1].content[1].text', invalidType],
  ['an image of a number', image({ image_url: 5 }), 'input[1].content[1].image_url', invalidType],
  ['an image without a url', image({ image_url: {} }), 'input[1].content[1].image_url.url', missingParameter],
  ['a detail of a number', image({ detail: 1 }), 'input[1].content[1].detail', invalidType],
  ['a file id of a number', image({ file_id: 1 }), 'input[1].content[1].file_id', invalidType],
]
