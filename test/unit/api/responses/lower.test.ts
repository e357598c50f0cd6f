import { expect, test } from 'bun:test'
import { lowered, rejection, textPart } from './support/lower-fixtures.ts'

const hello = { role: 'user', parts: [textPart('Hello')] }

test('a plain request is lowered to its text and nothing else', () => {
  const { generation, warnings } = lowered({})
  expect(generation).toEqual({ messages: [hello], tools: [], extras: {} } as never)
  expect(warnings).toEqual([])
})

test('every parameter is lowered, and keeps its own name in errors', () => {
  const { generation, names, warnings } = lowered({
    max_output_tokens: 5,
    temperature: 0,
    top_p: 0.5,
    reasoning: { effort: 'low', summary: 'auto' },
    user: 'Ada',
    service_tier: 'flex',
  })
  const { messages: _, ...rest } = generation
  expect(rest).toEqual({
    tools: [],
    format: undefined,
    maxTokens: 5,
    temperature: 0,
    topP: 0.5,
    effort: 'low',
    serviceTier: 'flex',
    user: 'Ada',
    extras: {},
  })
  expect(names).toEqual({
    max_tokens: 'max_output_tokens',
    reasoning_effort: 'reasoning.effort',
    response_format: 'text.format',
  })
  expect(warnings).toEqual([])
})

test('a parameter of null is ignored', () => {
  const names = [
    'instructions',
    'max_output_tokens',
    'temperature',
    'reasoning',
    'text',
    'truncation',
    'include',
  ]
  const unnamed = [
    'conversation',
    'prompt',
    'top_logprobs',
    'service_tier',
    'stop',
    'top_k',
    'stream_options',
  ]
  const patch = Object.fromEntries([...names, ...unnamed].map((name) => [name, null]))
  expect(lowered(patch)).toEqual(lowered({}))
})

test('instructions come first, and only those of this request', () => {
  const context = [{ id: 'a', type: 'message', role: 'user', content: 'Before.' }]
  const { generation } = lowered({ instructions: 'Be brief.' }, context)
  expect(generation.messages as unknown).toEqual([
    { role: 'system', parts: [textPart('Be brief.')] },
    { role: 'user', parts: [textPart('Before.')] },
    hello,
  ])
  expect(lowered({ instructions: '' }).generation.messages as unknown).toEqual([hello])
})

const schema = { type: 'object', properties: { a: { type: 'string' } } }

test.each([
  [{ type: 'text' }, { type: 'text' }],
  [{ type: 'json_object' }, { type: 'json_object' }],
  [
    { type: 'json_schema', name: 'n', schema, strict: true, description: 'd', free: 1 },
    { type: 'json_schema', name: 'n', schema, strict: true, description: 'd' },
  ],
  [
    { type: 'json_schema', name: 'n', schema, strict: null, description: null },
    { type: 'json_schema', name: 'n', schema },
  ],
])('the format %j is lowered', (format, expected) => {
  expect(lowered({ text: { format } }).generation.format as unknown).toEqual(expected)
})

test.each([
  [{ type: 'grammar' }, 'text.format.type', 'invalid_value'],
  [{ type: '' }, 'text.format.type', 'invalid_value'],
  [{ type: 'json_schema', schema }, 'text.format.name', 'missing_required_parameter'],
  [{ type: 'json_schema', name: 'n' }, 'text.format.schema', 'missing_required_parameter'],
  [
    { type: 'json_schema', json_schema: { name: 'n', schema } },
    'text.format.name',
    'missing_required_parameter',
  ],
])('the format %j is rejected', (format, param, code) => {
  const error = rejection({ text: { format } })
  expect([error.status, error.param, error.code]).toEqual([400, param, code])
  expect(error.message).toContain(`'${param}'`)
})

test('tools are rejected, an empty list of them is not', () => {
  const error = rejection({ tools: [{ type: 'web_search' }] })
  expect([error.status, error.param, error.code]).toEqual([400, 'tools', 'unsupported_parameter'])
  expect(lowered({ tools: [], tool_choice: 'required', parallel_tool_calls: false })).toEqual(lowered({}))
})

test('a background run that is not stored is rejected, and a stored one is not', () => {
  const error = rejection({ background: true, store: false })
  expect([error.status, error.param, error.code]).toEqual([400, 'background', 'unsupported_parameter'])
  for (const patch of [{ background: true }, { background: true, store: null }, { store: false }])
    expect(lowered(patch)).toEqual(lowered({}))
})

test('an empty input is accepted after a previous response, and rejected without one', () => {
  const context = [{ id: 'a', type: 'message', role: 'user', content: 'Before.' }]
  expect(lowered({ input: [] }, context).generation.messages).toHaveLength(1)
  expect(lowered({ input: [], instructions: 'Say hello.' }).generation.messages).toHaveLength(1)
  const empty = rejection({ input: [] })
  expect([empty.status, empty.param, empty.code]).toEqual([400, 'input', 'empty_array'])
  const mute = rejection({ input: [{ type: 'reasoning', summary: [] }, { type: 'telegram' }] })
  expect([mute.status, mute.param, mute.code]).toEqual([400, 'input', 'invalid_value'])
})
