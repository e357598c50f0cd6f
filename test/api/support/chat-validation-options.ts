import {
  type ValidCase,
  type InvalidCase,
  missingParameter,
  invalidType,
  invalidValue,
} from './chat-validation-case.ts'

const format = (value: unknown) => ({ response_format: value })
const schema = (value: unknown) => format({ type: 'json_schema', json_schema: value })
const tool = (value: unknown) => ({ tools: [{ type: 'function', function: { name: 'f' } }, value] })
const called = (value: unknown) => tool({ type: 'function', function: value })
const forced = (value: unknown) => ({ tool_choice: value })
const trace = (value: object) => ({ trace: { id: 'a', ...value } })
const tags = (count: number) => ({ tags: Array.from({ length: count }, (_, index) => `tag ${index}`) })

const below = 'string_below_min_length'
const above = 'string_above_max_length'
const tooMany = 'array_above_max_length'
const unknown = 'unknown_parameter'

/** The fields of several values, at the edge of what they may be. */
export const accepted: readonly ValidCase[] = [
  ['one stop', { stop: 'a' }],
  ['no stops', { stop: [] }],
  ['four stops', { stop: ['a', 'b', 'c', 'd'] }],
  ['empty stream options', { stream: true, stream_options: {} }],
  ['usage in the stream', { stream: true, stream_options: { include_usage: true } }],
  ['null for usage in the stream', { stream_options: { include_usage: null } }],
  ['no tools', { tools: [] }],
  ['a complete tool', called({ name: 'f', description: 'd', parameters: { type: 'object' } })],
  ['a tool with nulls', called({ name: 'f', description: null, parameters: null })],
  ['a tool with free properties', called({ name: 'f', strict: true })],
  ['a forced tool', forced({ type: 'function', function: { name: 'f' } })],
  ['a text format', format({ type: 'text' })],
  ['a JSON format', format({ type: 'json_object' })],
  ['a schema format', schema({ name: 'n', schema: {}, strict: true })],
  ['a schema format with null', schema({ name: 'n', schema: {}, strict: null })],
  ['a schema format with free properties', schema({ name: 'n', schema: {}, description: 'd' })],
  ['biases', { logit_bias: { '50256': -100, '1': 0.5 } }],
  ['32 tags', tags(32)],
  ['tags of 0 and 128 characters', { tags: ['', '😀'.repeat(128)] }],
  ['texts with whole pairs and escapes', { tags: ['😀', '\n', '\\u0000'], user: '😀\t' }],
  ['values of metadata with any characters', { metadata: { a: 'b\0', c: ['\ud800'] } }],
  ['any metadata', { metadata: { a: 'b', c: [1, { d: null }], '': '' } }],
  [
    'a complete trace',
    trace({ span_id: 's', parent_span_id: 'p', name: '', source: '', metadata: { a: [1] } }),
  ],
  [
    'a trace with nulls',
    trace({ span_id: null, parent_span_id: null, name: null, source: null, metadata: null }),
  ],
  ['trace ids of 1 and 256 characters', trace({ span_id: 'a', parent_span_id: '😀'.repeat(256) })],
  ['a trace id of 256 characters', { trace: { id: 'a'.repeat(256) } }],
  ['trace texts of 256 characters', trace({ name: 'a'.repeat(256), source: 'a'.repeat(256) })],
  ['unknown properties', { top_k: 5, verbosity: { a: [1] }, prompt_cache_key: null }],
  ['a key named __proto__', JSON.parse('{"__proto__":{"temperature":9},"metadata":{"__proto__":1}}')],
]

/** The same just beyond the edge. */
export const refused: readonly InvalidCase[] = [
  ['a tag with a null character', { tags: ['a', 'a\0b'] }, 'tags[1]', invalidValue],
  ['a tag with half a character', { tags: ['\ud83d'] }, 'tags[0]', invalidValue],
  ['a user with a null character', { user: '\0' }, 'user', invalidValue],
  ['a user with half a character', { user: 'a\udc00b' }, 'user', invalidValue],
  ['a key of metadata with a null character', { metadata: { 'a\0': 1 } }, 'metadata', invalidValue],
  ['a key with half a character', trace({ metadata: { '\ud800': 1 } }), 'trace.metadata', invalidValue],
  ['five stops', { stop: ['a', 'b', 'c', 'd', 'e'] }, 'stop', tooMany],
  ['a stop of a number', { stop: 5 }, 'stop', invalidType],
  ['a number among the stops', { stop: ['a', 5] }, 'stop[1]', invalidType],
  ['an unknown stream option', { stream_options: { chunks: 1 } }, 'stream_options.chunks', unknown],
  [
    'a word for usage',
    { stream_options: { include_usage: 'yes' } },
    'stream_options.include_usage',
    invalidType,
  ],
  ['a tool of a string', tool('f'), 'tools[1]', invalidType],
  ['a tool of another type', tool({ type: 'web_search' }), 'tools[1].type', invalidValue],
  ['a tool without a type', tool({ function: { name: 'f' } }), 'tools[1].type', missingParameter],
  ['a tool without a function', tool({ type: 'function' }), 'tools[1].function', missingParameter],
  ['a tool without a name', called({ description: 'd' }), 'tools[1].function.name', missingParameter],
  [
    'a tool that a number describes',
    called({ name: 'f', description: 5 }),
    'tools[1].function.description',
    invalidType,
  ],
  [
    'parameters of a list',
    called({ name: 'f', parameters: [] }),
    'tools[1].function.parameters',
    invalidType,
  ],
  ['an empty tool choice', forced({}), 'tool_choice.type', missingParameter],
  ['a tool choice of another type', forced({ type: 'mcp' }), 'tool_choice.type', invalidValue],
  ['a choice of no function', forced({ type: 'function' }), 'tool_choice.function', missingParameter],
  [
    'a choice without a name',
    forced({ type: 'function', function: {} }),
    'tool_choice.function.name',
    missingParameter,
  ],
  ['an empty format', format({}), 'response_format.type', missingParameter],
  ['an unknown format', format({ type: 'yaml' }), 'response_format.type', invalidValue],
  ['a format of null for a type', format({ type: null }), 'response_format.type', invalidType],
  [
    'a schema format without a schema',
    format({ type: 'json_schema' }),
    'response_format.json_schema',
    missingParameter,
  ],
  ['a schema without a name', schema({ schema: {} }), 'response_format.json_schema.name', missingParameter],
  ['a name without a schema', schema({ name: 'n' }), 'response_format.json_schema.schema', missingParameter],
  [
    'a schema of true',
    schema({ name: 'n', schema: true }),
    'response_format.json_schema.schema',
    invalidType,
  ],
  [
    'a strict word',
    schema({ name: 'n', schema: {}, strict: 'yes' }),
    'response_format.json_schema.strict',
    invalidType,
  ],
  ['a bias of a string', { logit_bias: { '1': '5' } }, 'logit_bias.1', invalidType],
  ['a bias under an odd name', { logit_bias: { 'a\nb': null } }, 'logit_bias.a\ufffdb', invalidType],
  ['33 tags', tags(33), 'tags', tooMany],
  ['a tag of 129 characters', { tags: ['a', '😀'.repeat(129)] }, 'tags[1]', above],
  ['a tag of a number', { tags: [5] }, 'tags[0]', invalidType],
  ['a trace without an id', { trace: {} }, 'trace.id', missingParameter],
  ['a null trace id', { trace: { id: null } }, 'trace.id', invalidType],
  ['an empty trace id', { trace: { id: '' } }, 'trace.id', below],
  ['a trace id of 257 characters', { trace: { id: 'a'.repeat(257) } }, 'trace.id', above],
  ...['span_id', 'parent_span_id'].map((name): InvalidCase => [
    `an empty ${name}`,
    trace({ [name]: '' }),
    `trace.${name}`,
    below,
  ]),
  ...['span_id', 'parent_span_id', 'name', 'source'].map((name): InvalidCase => [
    `${name} of 257 characters`,
    trace({ [name]: 'a'.repeat(257) }),
    `trace.${name}`,
    above,
  ]),
  ['trace metadata of a string', trace({ metadata: 'a' }), 'trace.metadata', invalidType],
  ['an unknown trace property', trace({ parent: 'a' }), 'trace.parent', unknown],
  ['__proto__ in a trace', { trace: JSON.parse('{"id":"a","__proto__":{}}') }, 'trace.__proto__', unknown],
]
