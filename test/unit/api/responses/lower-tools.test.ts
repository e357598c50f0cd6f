import { describe, expect, test } from 'bun:test'
import { sealState } from '../../../../src/domain/generation/sealed-state.ts'
import { lowered, rejection } from './support/lower-fixtures.ts'

const enabled = { functionTools: true } as const
const measure = {
  type: 'function',
  name: 'measure',
  description: 'Measures.',
  parameters: { type: 'object' },
  strict: true,
}
const shell = { type: 'custom', name: 'shell', description: 'Runs.' }

const toolsOf = (patch: object, unsupported: 'reject' | 'drop' = 'reject') =>
  lowered(patch, [], { ...enabled, unsupported }).generation
const rejected = (patch: object) => {
  const { status, param, code } = rejection(patch, [], enabled)
  return [status, param, code]
}

test('a function keeps its name, description, schema and strictness', () => {
  expect(toolsOf({ tools: [measure] }).tools).toEqual([
    { name: 'measure', description: 'Measures.', parameters: { type: 'object' }, strict: true },
  ])
  expect(
    toolsOf({ tools: [{ type: 'function', name: 'bare', parameters: null, description: null }] }).tools,
  ).toEqual([{ name: 'bare' }])
})

test('a custom tool becomes a function with one text, and its grammar part of the description', () => {
  const format = { type: 'grammar', syntax: 'lark', definition: 'start: "a"' }
  const [tool] = toolsOf({ tools: [{ ...shell, format }] }).tools
  expect(tool?.name).toBe('shell')
  expect(tool?.parameters).toMatchObject({ required: ['input'], properties: { input: { type: 'string' } } })
  expect(tool?.description).toStartWith('Runs.\n\n')
  expect(tool?.description).toContain('lark grammar:\nstart: "a"')
})

test('the functions of a namespace get the name of the namespace in front, in at most 64 characters', () => {
  const names = (name: string, inner: string) =>
    toolsOf({ tools: [{ type: 'namespace', name, tools: [{ ...measure, name: inner }] }] }).tools.map(
      (tool) => tool.name,
    )
  expect(names('river', 'measure')).toEqual(['river__measure'])
  const [long = ''] = names('r'.repeat(60), 'measure')
  expect(long).toHaveLength(64)
  expect(names('r'.repeat(60), 'other')).not.toEqual([long])
})

describe('a request is rejected with the field named for', () => {
  test.each([
    ['a hosted tool', { tools: [measure, { type: 'web_search' }] }, 'tools[1].type', 'unsupported_parameter'],
    [
      'a function without a name',
      { tools: [{ type: 'function' }] },
      'tools[0].name',
      'missing_required_parameter',
    ],
    ['a name with a space', { tools: [{ ...measure, name: 'a b' }] }, 'tools[0].name', 'invalid_value'],
    [
      'a schema that is no object',
      { tools: [{ ...measure, parameters: 'a' }] },
      'tools[0].parameters',
      'invalid_type',
    ],
    ['two tools of one name', { tools: [measure, { ...shell, name: 'measure' }] }, 'tools', 'invalid_value'],
    [
      'a hosted tool in a namespace',
      { tools: [{ type: 'namespace', name: 'a', tools: [{ type: 'web_search' }] }] },
      'tools[0].tools[0].type',
      'unsupported_parameter',
    ],
    [
      'a choice of an unknown tool',
      { tools: [measure], tool_choice: { type: 'function', name: 'a' } },
      'tool_choice.name',
      'invalid_value',
    ],
    [
      'a hosted tool choice',
      { tools: [measure], tool_choice: { type: 'file_search' } },
      'tool_choice.type',
      'unsupported_parameter',
    ],
    ['an unknown tool choice', { tools: [measure], tool_choice: 'perhaps' }, 'tool_choice', 'invalid_value'],
  ])('%s', (_, patch, param, code) => {
    expect(rejected(patch)).toEqual([400, param, code])
  })

  test('tools while function_tools is disabled', () => {
    const error = rejection({ tools: [measure] })
    expect([error.status, error.param, error.code]).toEqual([400, 'tools', 'unsupported_parameter'])
    expect(error.message).toContain('function_tools')
  })

  test('an output in the input whose call is missing', () => {
    const orphan = { type: 'function_call_output', call_id: 'call_9', output: 'x' }
    const error = rejection({ input: [{ role: 'user', content: 'a' }, orphan] }, [], enabled)
    expect([error.status, error.param]).toEqual([400, 'input[1].call_id'])
    expect(error.message).toContain('call_9')
    const { warnings } = lowered({ input: [{ role: 'user', content: 'a' }, orphan] })
    expect(warnings).toHaveLength(1)
  })
})

test('with unsupported parameters dropped, hosted tools are ignored with one warning', () => {
  const tools = [{ type: 'web_search' }, measure, { type: 'image_generation' }]
  const { generation, warnings } = lowered({ tools }, [], { ...enabled, unsupported: 'drop' })
  expect(generation.tools.map(({ name }) => name)).toEqual(['measure'])
  expect(warnings).toEqual(['Tools `web_search` and `image_generation` are not supported and were ignored.'])
})

test.each([
  ['auto', 'auto'],
  ['none', 'none'],
  ['required', 'required'],
  [{ type: 'function', name: 'measure' }, { name: 'measure' }],
  [{ type: 'custom', name: 'shell' }, { name: 'shell' }],
  [null, undefined],
] as const)('the tool choice %j is lowered', (tool_choice, expected) => {
  expect(toolsOf({ tools: [measure, shell], tool_choice }).toolChoice).toEqual(expected as never)
})

test('allowed tools leave only these', () => {
  const tool_choice = { type: 'allowed_tools', mode: 'required', tools: [{ type: 'custom', name: 'shell' }] }
  const { tools, toolChoice } = toolsOf({ tools: [measure, shell], tool_choice })
  expect([tools.map(({ name }) => name), toolChoice]).toEqual([['shell'], 'required'])
})

test('calls and outputs of all kinds are one assistant turn and its results', () => {
  const input = [
    { type: 'function_call', call_id: 'a', name: 'measure', namespace: 'river', arguments: '{}' },
    { type: 'custom_tool_call', call_id: 'b', name: 'shell', input: 'ls "x"' },
    { type: 'function_call_output', call_id: 'a', output: '4' },
    { type: 'custom_tool_call_output', call_id: 'b', output: [{ type: 'input_text', text: 'x' }] },
  ]
  expect(lowered({ input }, [], enabled).generation.messages).toEqual([
    {
      role: 'assistant',
      parts: [],
      toolCalls: [
        { id: 'a', name: 'river__measure', arguments: '{}' },
        { id: 'b', name: 'shell', arguments: '{"input":"ls \\"x\\""}' },
      ],
    },
    { role: 'tool', callId: 'a', parts: [{ type: 'text', text: '4' }] },
    { role: 'tool', callId: 'b', parts: [{ type: 'text', text: 'x' }] },
  ])
})

describe('the state of reasoning', () => {
  const sealed = (state: object, provider = 'acme') => ({
    type: 'reasoning',
    summary: [],
    encrypted_content: sealState({ provider, state: state as never }),
  })
  const call = { type: 'function_call', call_id: 'a', name: 'measure', arguments: '{}' }
  const output = { type: 'function_call_output', call_id: 'a', output: '4' }
  const callIn = (input: readonly object[]) => {
    const [turn] = lowered({ input }, [], enabled).generation.messages
    return turn?.role === 'assistant' ? turn.toolCalls[0] : undefined
  }

  test('goes back with the next call, that of several items joined', () => {
    expect(
      callIn([sealed({ reasoning: [1] }), sealed({ reasoning: [2], phase: 'b' }), call, output]),
    ).toMatchObject({
      provider: 'acme',
      state: { reasoning: [1, 2], phase: 'b' },
    })
  })

  test('of another provider replaces what came before', () => {
    const items = [sealed({ reasoning: [1] }, 'other'), sealed({ reasoning: [2] }), call, output]
    expect(callIn(items)).toMatchObject({ provider: 'acme', state: { reasoning: [2] } })
  })

  test.each([
    ['content that the gateway did not make', { type: 'reasoning', summary: [], encrypted_content: 'gAAAA' }],
    ['damaged content', { type: 'reasoning', summary: [], encrypted_content: 'weir1.!!' }],
    ['no content', { type: 'reasoning', summary: [] }],
  ])('is not sent for %s', (_, item) => {
    expect(callIn([item, call, output])).toEqual({ id: 'a', name: 'measure', arguments: '{}' })
  })

  test('before a message of the user is not sent with a later call', () => {
    const user = { role: 'user', content: 'Go on.' }
    const { messages } = lowered({ input: [sealed({ a: [1] }), user, call, output] }, [], enabled).generation
    expect(messages[1]).toMatchObject({ toolCalls: [{ id: 'a', name: 'measure', arguments: '{}' }] })
    expect(JSON.stringify(messages)).not.toContain('acme')
  })
})
