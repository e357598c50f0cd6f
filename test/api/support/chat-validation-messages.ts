import {
  type Accepted,
  type Refused,
  missing,
  plainRequest,
  wrongType,
  wrongWord,
} from './chat-validation-case.ts'

const said = (message: unknown) => ({ messages: [...plainRequest.messages, message] })
const part = (value: unknown) => said({ role: 'user', content: [{ type: 'text', text: 'a' }, value] })
const image = (value: unknown) => part({ type: 'image_url', image_url: value })
const call = (value: unknown) => said({ role: 'assistant', content: null, tool_calls: [value] })

const whole = { id: 'a', type: 'function', function: { name: 'f', arguments: '' } }
const nulls = { name: null, tool_calls: null, tool_call_id: null }
const roles = ['system', 'user', 'assistant', 'tool', 'developer']

/** Messages at the edge of what they may be; each is the second of its request. */
export const accepted: readonly Accepted[] = [
  ...roles.map((role): Accepted => [`a message by ${role}`, said({ role, content: 'a' })]),
  ['empty content', said({ role: 'user', content: '' })],
  ['null content', said({ role: 'assistant', content: null })],
  ['no content', said({ role: 'assistant', tool_calls: [whole] })],
  ['no parts', said({ role: 'user', content: [] })],
  ['null where a message may leave out', said({ role: 'user', content: 'a', ...nulls })],
  ['a name', said({ role: 'user', content: 'a', name: 'Ada' })],
  ['a tool result', said({ role: 'tool', content: 'a', tool_call_id: 'a' })],
  ['no tool calls', said({ role: 'assistant', content: 'a', tool_calls: [] })],
  ['a tool call with free properties', call({ ...whole, index: 0 })],
  ['a message with free properties', said({ role: 'assistant', content: 'a', refusal: null, audio: {} })],
  ['an empty text', part({ type: 'text', text: '' })],
  ['a text with free properties', part({ type: 'text', text: 'a', cache_control: {} })],
  ['an image', image({ url: 'https://example.com/a.png', detail: 'low' })],
  ['an image with null detail', image({ url: 'data:,', detail: null })],
  ['a part of another type', part({ type: 'input_audio', input_audio: { data: '' }, free: 1 })],
  ['a part of an empty type', part({ type: '' })],
  ['a lone surrogate', said({ role: 'user', content: '\ud800' })],
]

/** The same just beyond the edge. */
export const refused: readonly Refused[] = [
  ['a message that is a string', said('Hello'), 'messages[1]', wrongType],
  ['a message that is null', said(null), 'messages[1]', wrongType],
  ['a message that is a list', said([]), 'messages[1]', wrongType],
  ['a message without a role', said({ content: 'a' }), 'messages[1].role', missing],
  ['an unknown role', said({ role: 'bot', content: 'a' }), 'messages[1].role', wrongWord],
  ['a null role', said({ role: null }), 'messages[1].role', wrongType],
  ['content of a number', said({ role: 'user', content: 5 }), 'messages[1].content', wrongType],
  ['content of an object', said({ role: 'user', content: {} }), 'messages[1].content', wrongType],
  ['a name of a number', said({ role: 'user', name: 5 }), 'messages[1].name', wrongType],
  ['an id of a number', said({ role: 'tool', tool_call_id: 5 }), 'messages[1].tool_call_id', wrongType],
  ['a part of a string', part('a'), 'messages[1].content[1]', wrongType],
  ['a part without a type', part({ text: 'a' }), 'messages[1].content[1].type', missing],
  ['a part of a number for a type', part({ type: 5 }), 'messages[1].content[1].type', wrongType],
  ['a text without text', part({ type: 'text' }), 'messages[1].content[1].text', missing],
  ['a text of null', part({ type: 'text', text: null }), 'messages[1].content[1].text', wrongType],
  ['no image', part({ type: 'image_url' }), 'messages[1].content[1].image_url', missing],
  ['an image of a string', image('https://a'), 'messages[1].content[1].image_url', wrongType],
  ['an image without a url', image({}), 'messages[1].content[1].image_url.url', missing],
  ['a url of null', image({ url: null }), 'messages[1].content[1].image_url.url', wrongType],
  [
    'a detail of a number',
    image({ url: 'a', detail: 1 }),
    'messages[1].content[1].image_url.detail',
    wrongType,
  ],
  [
    'tool calls of an object',
    said({ role: 'assistant', tool_calls: {} }),
    'messages[1].tool_calls',
    wrongType,
  ],
  ['a tool call of null', call(null), 'messages[1].tool_calls[0]', wrongType],
  ['a tool call without an id', call({ ...whole, id: undefined }), 'messages[1].tool_calls[0].id', missing],
  [
    'a tool call without a type',
    call({ ...whole, type: undefined }),
    'messages[1].tool_calls[0].type',
    missing,
  ],
  ['a foreign tool call', call({ ...whole, type: 'custom' }), 'messages[1].tool_calls[0].type', wrongWord],
  ['a bare tool call', call({ id: 'a', type: 'function' }), 'messages[1].tool_calls[0].function', missing],
  [
    'a tool call without a name',
    call({ ...whole, function: { arguments: '{}' } }),
    'messages[1].tool_calls[0].function.name',
    missing,
  ],
  [
    'a tool call without arguments',
    call({ ...whole, function: { name: 'f' } }),
    'messages[1].tool_calls[0].function.arguments',
    missing,
  ],
  [
    'arguments that are an object',
    call({ ...whole, function: { name: 'f', arguments: {} } }),
    'messages[1].tool_calls[0].function.arguments',
    wrongType,
  ],
]
