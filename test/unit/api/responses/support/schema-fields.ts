import {
  type ValidCase,
  type InvalidCase,
  missingParameter,
  invalidType,
  invalidValue,
} from './schema-case.ts'

const nullable = ['instructions', 'max_output_tokens', 'temperature', 'top_p', 'previous_response_id']
const alsoNullable = ['reasoning', 'parallel_tool_calls', 'truncation', 'include', 'metadata']
const nullAsAbsent = ['stream', 'background', 'store', 'text', 'tools', 'user', 'tags', 'trace']
const booleans = ['stream', 'background', 'store', 'parallel_tool_calls']
const strings = ['instructions', 'previous_response_id', 'truncation', 'user']
const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

const below = 'string_below_min_length'
const above = 'string_above_max_length'
const tooMany = 'array_above_max_length'
const unknown = 'unknown_parameter'

const trace = (value: object) => ({ trace: { id: 'a', ...value } })
const tags = (count: number) => ({ tags: Array.from({ length: count }, (_, index) => `tag ${index}`) })
const format = (value: unknown) => ({ text: { format: value } })

/** The fields beside the input, at the edge of what they may be. */
export const accepted: readonly ValidCase[] = [
  ...[...nullable, ...alsoNullable, ...nullAsAbsent, 'tool_choice'].map((name): ValidCase => {
    return [`null for ${name}`, { [name]: null }]
  }),
  ...booleans.flatMap((name): ValidCase[] => [
    [`${name} true`, { [name]: true }],
    [`${name} false`, { [name]: false }],
  ]),
  ...strings.map((name): ValidCase => [`an empty ${name}`, { [name]: '' }]),
  ...[0, 0.7, 2].map((value): ValidCase => [`temperature ${value}`, { temperature: value }]),
  ...[0, 0.7, 1].map((value): ValidCase => [`top_p ${value}`, { top_p: value }]),
  ...[1, 9007199254740991].map((value): ValidCase => [
    `max_output_tokens ${value}`,
    { max_output_tokens: value },
  ]),
  ...efforts.map((effort): ValidCase => [`effort ${effort}`, { reasoning: { effort } }]),
  ...['auto', 'concise', 'detailed', null].map((summary): ValidCase => [
    `summary ${summary}`,
    { reasoning: { summary } },
  ]),
  ['no effort', { reasoning: { effort: null } }],
  ['reasoning with free properties', { reasoning: { generate_summary: 'auto', encrypted: true } }],
  ['an empty text', { text: {} }],
  ['no format', format(null)],
  ['a format of any type', format({ type: 'grammar', syntax: 'lark', free: [1] })],
  ['a verbosity', { text: { verbosity: 'low' } }],
  ['no tools', { tools: [] }],
  ['tools, which are rejected later', { tools: [{ type: 'web_search', free: 1 }] }],
  ['a tool choice of a string', { tool_choice: 'none' }],
  ['a tool choice of an object', { tool_choice: { type: 'function', name: 'f' } }],
  ['a tool choice of anything', { tool_choice: [5, { a: null }] }],
  ['nothing to include', { include: [] }],
  ['anything to include', { include: ['reasoning.encrypted_content', ''] }],
  ['any metadata', { metadata: { a: 'b', c: [1, { d: null }], '': '' } }],
  ['no metadata in it', { metadata: {} }],
  ['no tags', { tags: [] }],
  ['32 tags', tags(32)],
  ['tags of 0 and 128 characters', { tags: ['', '😀'.repeat(128)] }],
  [
    'a complete trace',
    trace({ span_id: 's', parent_span_id: 'p', name: '', source: '', metadata: { a: [1] } }),
  ],
  [
    'a trace of nulls',
    trace({ span_id: null, parent_span_id: null, name: null, source: null, metadata: null }),
  ],
  ['trace ids of 256 characters', { trace: { id: 'a'.repeat(256), span_id: '😀'.repeat(256) } }],
  ['unknown properties', { top_k: 5, conversation: { id: 'a' }, prompt_cache_key: null }],
  ['a key named __proto__', JSON.parse('{"__proto__":{"temperature":9},"metadata":{"__proto__":1}}')],
]

/** The same just beyond the edge. */
export const refused: readonly InvalidCase[] = [
  ['no model', { model: undefined }, 'model', missingParameter],
  ['a null model', { model: null }, 'model', invalidType],
  ['a model of a number', { model: 5 }, 'model', invalidType],
  ...booleans.map((name): InvalidCase => [`${name} of a word`, { [name]: 'true' }, name, invalidType]),
  ...strings.map((name): InvalidCase => [`${name} of a number`, { [name]: 5 }, name, invalidType]),
  [
    'instructions of a list',
    { instructions: [{ role: 'system', content: 'a' }] },
    'instructions',
    invalidType,
  ],
  ['temperature -0.1', { temperature: -0.1 }, 'temperature', 'decimal_below_min_value'],
  ['temperature 2.1', { temperature: 2.1 }, 'temperature', 'decimal_above_max_value'],
  ['an infinite temperature', { temperature: Infinity }, 'temperature', 'decimal_above_max_value'],
  ['temperature of a word', { temperature: '1' }, 'temperature', invalidType],
  ['top_p -0.1', { top_p: -0.1 }, 'top_p', 'decimal_below_min_value'],
  ['top_p 1.1', { top_p: 1.1 }, 'top_p', 'decimal_above_max_value'],
  ['no output tokens', { max_output_tokens: 0 }, 'max_output_tokens', 'integer_below_min_value'],
  ['half a token', { max_output_tokens: 1.5 }, 'max_output_tokens', invalidType],
  ['2^53 tokens', { max_output_tokens: 2 ** 53 }, 'max_output_tokens', 'integer_above_max_value'],
  ['reasoning of a word', { reasoning: 'high' }, 'reasoning', invalidType],
  ['an unknown effort', { reasoning: { effort: 'extreme' } }, 'reasoning.effort', invalidValue],
  ['an effort of a number', { reasoning: { effort: 1 } }, 'reasoning.effort', invalidType],
  ['an unknown summary', { reasoning: { summary: 'none' } }, 'reasoning.summary', invalidValue],
  ['a text of a string', { text: 'json' }, 'text', invalidType],
  ['a format of a string', format('json'), 'text.format', invalidType],
  ['a format without a type', format({ name: 'n' }), 'text.format.type', missingParameter],
  ['a format of a number for a type', format({ type: 5 }), 'text.format.type', invalidType],
  ['tools of an object', { tools: {} }, 'tools', invalidType],
  ['a tool of a string', { tools: ['web_search'] }, 'tools[0]', invalidType],
  ['a tool without a type', { tools: [{ name: 'f' }] }, 'tools[0].type', missingParameter],
  ['a tool of null for a type', { tools: [{ type: null }] }, 'tools[0].type', invalidType],
  ['include of a string', { include: 'a' }, 'include', invalidType],
  ['a number to include', { include: ['a', 5] }, 'include[1]', invalidType],
  ['metadata of a list', { metadata: [] }, 'metadata', invalidType],
  ['metadata of a string', { metadata: 'a' }, 'metadata', invalidType],
  ['33 tags', tags(33), 'tags', tooMany],
  ['a tag of 129 characters', { tags: ['a', '😀'.repeat(129)] }, 'tags[1]', above],
  ['a tag of a number', { tags: [5] }, 'tags[0]', invalidType],
  ['a trace without an id', { trace: {} }, 'trace.id', missingParameter],
  ['an empty trace id', { trace: { id: '' } }, 'trace.id', below],
  ['an empty span id', trace({ span_id: '' }), 'trace.span_id', below],
  ['a trace id of 257 characters', { trace: { id: 'a'.repeat(257) } }, 'trace.id', above],
  ...['span_id', 'parent_span_id', 'name', 'source'].map((name): InvalidCase => [
    `${name} of 257 characters`,
    trace({ [name]: 'a'.repeat(257) }),
    `trace.${name}`,
    above,
  ]),
  ['trace metadata of a string', trace({ metadata: 'a' }), 'trace.metadata', invalidType],
  ['an unknown trace property', trace({ parent: 'a' }), 'trace.parent', unknown],
]
