import {
  type ValidCase,
  type InvalidCase,
  missingParameter,
  minimalRequest,
  invalidType,
  invalidValue,
} from './chat-validation-case.ts'

const output = (message: unknown) => ({ messages: [...minimalRequest.messages, message] })
const part = (value: unknown) => output({ role: 'user', content: [{ type: 'text', text: 'a' }, value] })
const image = (value: unknown) => part({ type: 'image_url', image_url: value })
const call = (value: unknown) => output({ role: 'assistant', content: null, tool_calls: [value] })

const complete = { id: 'a', type: 'function', function: { name: 'f', arguments: '' } }
const nulls = { name: null, tool_calls: null, tool_call_id: null }
const roles = ['system', 'user', 'assistant', 'tool', 'developer']

/** Messages at the edge of what they may be; each is the second of its request. */
export const accepted: readonly ValidCase[] = [
  ...roles.map((role): ValidCase => [`a message by ${role}`, output({ role, content: 'a' })]),
  ['empty content', output({ role: 'user', content: '' })],
  ['null content', output({ role: 'assistant', content: null })],
  ['no content', output({ role: 'assistant', tool_calls: [complete] })],
  ['no parts', output({ role: 'user', content: [] })],
  ['null where a message may leave out', output({ role: 'user', content: 'a', ...nulls })],
  ['a name', output({ role: 'user', content: 'a', name: 'Ada' })],
  ['a tool result', output({ role: 'tool', content: 'a', tool_call_id: 'a' })],
  ['no tool calls', output({ role: 'assistant', content: 'a', tool_calls: [] })],
  ['a tool call with free properties', call({ ...complete, index: 0 })],
  ['a message with free properties', output({ role: 'assistant', content: 'a', refusal: null, audio: {} })],
  ['an empty text', part({ type: 'text', text: '' })],
  ['a text with free properties', part({ type: 'text', text: 'a', cache_control: {} })],
  ['an image', image({ url: 'https://example.com/a.png', detail: 'low' })],
  ['an image with null detail', image({ url: 'data:,', detail: null })],
  ['a part of another type', part({ type: 'input_audio', input_audio: { data: '' }, free: 1 })],
  ['a part of an empty type', part({ type: '' })],
  ['a lone surrogate', output({ role: 'user', content: '\ud800' })],
]

/** The same just beyond the edge. */
export const refused: readonly InvalidCase[] = [
  ['a message that is a string', output('Hello'), 'messages[1]', invalidType],
  ['a message that is null', output(null), 'messages[1]', invalidType],
  ['a message that is a list', output([]), 'messages[1]', invalidType],
  ['a message without a role', output({ content: 'a' }), 'messages[1].role', missingParameter],
  ['an unknown role', output({ role: 'bot', content: 'a' }), 'messages[1].role', invalidValue],
  ['a null role', output({ role: null }), 'messages[1].role', invalidType],
  ['content of a number', output({ role: 'user', content: 5 }), 'messages[1].content', invalidType],
  ['content of an object', output({ role: 'user', content: {} }), 'messages[1].content', invalidType],
  ['a name of a number', output({ role: 'user', name: 5 }), 'messages[1].name', invalidType],
  ['an id of a number', output({ role: 'tool', tool_call_id: 5 }), 'messages[1].tool_call_id', invalidType],
  ['a part of a string', part('a'), 'messages[1].content[1]', invalidType],
  ['a part without a type', part({ text: 'a' }), 'messages[1].content[1].type', missingParameter],
  ['a part of a number for a type', part({ type: 5 }), 'messages[1].content[1].type', invalidType],
  ['a text without text', part({ type: 'text' }), 'messages[1].content[1].text', missingParameter],
  ['a text of null', part({ type: 'text', text: null }), 'messages[1].content[1].text', invalidType],
  ['no image', part({ type: 'image_url' }), 'messages[1].content[1].image_url', missingParameter],
  ['an image of a string', image('https://a'), 'messages[1].content[1].image_url', invalidType],
  ['an image without a url', image({}), 'messages[1].content[1].image_url.url', missingParameter],
  ['a url of null', image({ url: null }), 'messages[1].content[1].image_url.url', invalidType],
  [
    'a detail of a number',
    image({ url: 'a', detail: 1 }),
    'messages[1].content[1].image_url.detail',
    invalidType,
  ],
  [
    'tool calls of an object',
    output({ role: 'assistant', tool_calls: {} }),
    'messages[1].tool_calls',
    invalidType,
  ],
  ['a tool call of null', call(null), 'messages[1].tool_calls[0]', invalidType],
  [
    'a tool call without an id',
    call({ ...complete, id: undefined }),
    'messages[1].tool_calls[0].id',
    missingParameter,
  ],
  [
    'a tool call without a type',
    call({ ...complete, type: undefined }),
    'messages[1].tool_calls[0].type',
    missingParameter,
  ],
  [
    'a foreign tool call',
    call({ ...complete, type: 'custom' }),
    'messages[1].tool_calls[0].type',
    invalidValue,
  ],
  [
    'a bare tool call',
    call({ id: 'a', type: 'function' }),
    'messages[1].tool_calls[0].function',
    missingParameter,
  ],
  [
    'a tool call without a name',
    call({ ...complete, function: { arguments: '{}' } }),
    'messages[1].tool_calls[0].function.name',
    missingParameter,
  ],
  [
    'a tool call without arguments',
    call({ ...complete, function: { name: 'f' } }),
    'messages[1].tool_calls[0].function.arguments',
    missingParameter,
  ],
  [
    'arguments that are an object',
    call({ ...complete, function: { name: 'f', arguments: {} } }),
    'messages[1].tool_calls[0].function.arguments',
    invalidType,
  ],
]
