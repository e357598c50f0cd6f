import { describe, expect, test } from 'bun:test'
import { lower } from '../../../../src/api/messages/lower.ts'
import { messageRequest } from '../../../../src/api/messages/schema.ts'
import { sealState } from '../../../../src/domain/generation/sealed-state.ts'
import { ApiError } from '../../../../src/lib/errors/errors.ts'

const user = (content: unknown) => ({ role: 'user', content })
const assistant = (content: unknown) => ({ role: 'assistant', content })
const text = (words: string) => ({ type: 'text', text: words }) as const

function lowered(changes: object) {
  const request = { model: 'a', max_tokens: 10, messages: [user('Hello')], ...changes }
  return lower(messageRequest.read(request)).generation
}

function rejection(changes: object): ApiError {
  try {
    lowered(changes)
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
  throw new Error('Nothing was rejected.')
}

describe('the parameters of a message request', () => {
  const schema = { type: 'object', properties: {}, additionalProperties: false }
  const output = { type: 'json_schema', name: 'output', schema, strict: true }
  const tool = { name: 'f', input_schema: { type: 'object' } }
  test.each<readonly [object, object]>([
    [{ max_tokens: 7 }, { maxTokens: 7 }],
    [{ stop_sequences: ['a', 'b'] }, { stop: ['a', 'b'] }],
    [{ stop_sequences: [] }, { stop: undefined }],
    [
      { temperature: 0.5, top_p: 0.9, top_k: 4 },
      { temperature: 0.5, topP: 0.9, extras: { top_k: 4 } },
    ],
    [{ metadata: { user_id: '{"device":"x"}' } }, { user: '{"device":"x"}' }],
    [{ service_tier: 'standard_only' }, { serviceTier: 'default' }],
    [{ service_tier: 'auto' }, { serviceTier: 'auto' }],
    [{ thinking: { type: 'disabled' } }, { effort: 'none' }],
    [{ thinking: { type: 'adaptive' } }, { effort: 'high' }],
    [{ thinking: { type: 'adaptive' }, output_config: { effort: 'low' } }, { effort: 'low' }],
    [{ thinking: { type: 'between_tools' } }, { effort: 'high' }],
    [{ thinking: { type: 'enabled', budget_tokens: 1024 } }, { effort: 'minimal' }],
    [{ thinking: { type: 'enabled', budget_tokens: 2048 } }, { effort: 'low' }],
    [{ thinking: { type: 'enabled', budget_tokens: 10_000 } }, { effort: 'medium' }],
    [{ thinking: { type: 'enabled', budget_tokens: 16_384 } }, { effort: 'high' }],
    [{ thinking: { type: 'enabled', budget_tokens: 32_000 } }, { effort: 'xhigh' }],
    [{ thinking: { type: 'enabled', budget_tokens: 64_000 } }, { effort: 'max' }],
    [{ output_config: { effort: 'max' } }, { effort: 'max' }],
    [{ output_config: { format: { type: 'json_schema', schema } } }, { format: output }],
    [{ output_format: { type: 'json_schema', schema } }, { format: output }],
    [{ tools: [tool], tool_choice: { type: 'any' } }, { toolChoice: 'required' }],
    [{ tools: [tool], tool_choice: { type: 'none' } }, { toolChoice: 'none' }],
    [{ tools: [tool], tool_choice: { type: 'tool', name: 'f' } }, { toolChoice: { name: 'f' } }],
    [
      { tools: [tool], tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
      { toolChoice: 'auto', parallelToolCalls: false },
    ],
    [{ tool_choice: { type: 'auto' } }, { toolChoice: undefined }],
    [{ unknown_field: 1, context_management: { edits: [] } }, { extras: {} }],
  ])('%j', (changes, expected) => {
    expect(lowered(changes)).toMatchObject(expected)
  })

  test('a schema with optional properties is not strict for providers that reject it', () => {
    const loose = { type: 'object', properties: { a: {} }, additionalProperties: false }
    expect(
      lowered({ output_config: { format: { type: 'json_schema', schema: loose } } }).format,
    ).toMatchObject({
      strict: false,
    })
  })

  test('the body and the betas are kept for an Anthropic upstream', () => {
    const body = { model: 'a', max_tokens: 10, messages: [user('Hello')], mystery: { deep: true } }
    const { source } = lower(messageRequest.read(body), { beta: 'one,two' }).generation
    expect<unknown>(source).toEqual({ protocol: 'anthropic', body, headers: { 'anthropic-beta': 'one,two' } })
  })
})

describe('the tools of a message request', () => {
  test.each([
    ['web_search_20250305', true],
    ['web_fetch_20260309', true],
    ['code_execution_20250825', true],
    ['something_new_20270101', true],
    ['bash_20250124', false],
    ['text_editor_20250728', false],
    ['computer_20250124', false],
    ['memory_20250818', false],
    ['tool_search_tool_regex_20251119', false],
  ])('%s is a tool of Anthropic, hosted: %p', (type, hosted) => {
    const custom = { type: 'custom', name: 'f', description: 'Does it.', input_schema: { type: 'object' } }
    const { tools, providerTools } = lowered({ tools: [custom, { type, name: 'x' }] })
    expect<unknown>(tools).toEqual([{ name: 'f', description: 'Does it.', parameters: { type: 'object' } }])
    expect<unknown>(providerTools).toEqual([{ protocol: 'anthropic', name: type, param: 'tools[1]', hosted }])
  })

  test('remote servers and containers are hosted by the provider', () => {
    const { providerTools } = lowered({
      mcp_servers: [{ type: 'url', url: 'https://a' }],
      container: { skills: [{ type: 'anthropic', skill_id: 'pptx' }] },
    })
    expect(providerTools?.map(({ param, hosted }) => [param, hosted])).toEqual([
      ['mcp_servers', true],
      ['container', true],
    ])
    expect(lowered({ mcp_servers: [] }).providerTools).toBeUndefined()
  })
})

describe('the state of another provider in thinking', () => {
  const seal = (state: object, provider = 'acme') =>
    sealState({ provider, state: JSON.parse(JSON.stringify(state)) })
  const thinking = (signature: string) => ({ type: 'thinking', thinking: 'Hm.', signature })
  const call = (id: string) => ({ type: 'tool_use', id, name: 'f', input: { a: 1 } })
  const plain = (id: string) => ({ id, name: 'f', arguments: '{"a":1}' })
  const callsOf = (content: readonly object[]) => {
    const [message] = lowered({ messages: [assistant(content)] }).messages
    return message?.role === 'assistant' ? message : undefined
  }

  test('belongs to the next tool call, with all lists joined', () => {
    const content = [
      thinking(seal({ reasoning: [1] })),
      thinking(seal({ reasoning: [2], phase: 'x' })),
      call('a'),
      call('b'),
    ]
    const turn = callsOf(content)
    expect<unknown>(turn?.toolCalls).toEqual([
      { ...plain('a'), provider: 'acme', state: { reasoning: [1, 2], phase: 'x' } },
      plain('b'),
    ])
    expect(turn?.parts).toEqual([])
  })

  test('is ignored where it is empty, of an earlier provider, or not followed by a call', () => {
    const content = [
      thinking(seal({ a: [1] }, 'old')),
      thinking(seal({ a: [2] })),
      call('a'),
      thinking(seal({})),
    ]
    expect<unknown>(callsOf(content)?.toolCalls).toEqual([
      { ...plain('a'), provider: 'acme', state: { a: [2] } },
    ])
    const marker = sealState({ provider: 'acme', state: null })
    expect<unknown>(callsOf([thinking(marker), call('a')])?.toolCalls).toEqual([plain('a')])
  })

  test('cannot be nested so deep that it could not be sent', () => {
    const deep = `{"provider":"acme","state":${'['.repeat(5000)}${']'.repeat(5000)}}`
    const signature = `weir1.${Buffer.from(deep).toString('base64url')}`
    expect<unknown>(callsOf([thinking(signature), call('a')])?.toolCalls).toEqual([plain('a')])
  })

  test('is not what Anthropic signed', () => {
    const turn = callsOf([thinking('EqQB'), { type: 'redacted_thinking', data: 'x' }, text('Yes.')])
    expect(
      turn?.parts.map((part) => ('protocol' in part ? [part.protocol, part.value.type] : part.type)),
    ).toEqual([['anthropic', 'thinking'], ['anthropic', 'redacted_thinking'], 'text'])
  })
})

describe('a message request is rejected with the path of', () => {
  const resultWithFile = {
    type: 'tool_result',
    tool_use_id: 'a',
    content: [{ type: 'document', source: { type: 'file', file_id: 'f' } }],
  }
  const tools = [{ name: 'f', input_schema: {} }]
  test.each<readonly [string, object]>([
    ['max_tokens', { max_tokens: undefined }],
    ['max_tokens', { max_tokens: 0 }],
    ['messages', { messages: [] }],
    ['messages[0].role', { messages: [{ role: 'tool', content: 'x' }] }],
    ['messages[0].content[0].text', { messages: [user([{ type: 'text' }])] }],
    [
      'messages[0].content[0].source.file_id',
      { messages: [user([{ type: 'image', source: { type: 'file', file_id: 'f' } }])] },
    ],
    [
      'messages[0].content[0].source.file_id',
      { messages: [user([{ type: 'document', source: { type: 'file', file_id: 'f' } }])] },
    ],
    [
      'messages[0].content[0].source.data',
      { messages: [user([{ type: 'image', source: { type: 'base64', media_type: 'image/png' } }])] },
    ],
    ['messages[0].content[0].file_id', { messages: [user([{ type: 'container_upload', file_id: 'f' }])] }],
    ['messages[0].content[0]', { messages: [user([{ type: 'container_upload' }])] }],
    ['messages[0].content[0].file_id', { messages: [user([{ type: 'code_output', file_id: 'f' }])] }],
    [
      'messages[0].content[0].items[1].source.file_id',
      { messages: [user([{ type: 'album', items: [{}, { source: { type: 'file', file_id: 'f' } }] }])] },
    ],
    [
      'messages[0].content[0].content[0].source.file_id',
      {
        messages: [
          user([
            { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'video', source: { file_id: 'f' } }] },
          ]),
        ],
      },
    ],
    [
      'messages[0].content[0].content[0].source.file_id',
      { messages: [{ role: 'assistant', content: [resultWithFile] }] },
    ],
    ['messages[0].content[0]', { messages: [user([{ type: 'tool_use', id: 'a', name: 'f', input: {} }])] }],
    ['messages[0].content[0].tool_use_id', { messages: [user([{ type: 'tool_result', content: 'x' }])] }],
    ['container.id', { container: { id: 1 } }],
    ['container.container_id', { container: { container_id: 'container_1' } }],
    ['container.skills[0].skill_id', { container: { skills: [{ type: 'custom', skill_id: 's' }] } }],
    ['messages[0].container.id', { messages: [{ ...user('x'), container: { id: 'c' } }] }],
    ['messages[0].content[0].containerId', { messages: [user([{ type: 'code', containerId: 'c' }])] }],
    ['tools[0].container', { tools: [{ type: 'code_execution_20260521', container: 'c' }] }],
    ['mcp_servers[0].file_ids', { mcp_servers: [{ type: 'url', url: 'https://a', file_ids: ['f'] }] }],
    ['future.container_id', { future: { container_id: 'c' } }],
    ['system', { system: 5 }],
    ['tools[0].input_schema', { tools: [{ name: 'f' }] }],
    ['tool_choice', { tool_choice: { type: 'any' } }],
    ['tool_choice.name', { tools, tool_choice: { type: 'tool', name: 'g' } }],
    ['temperature', { temperature: 1.5 }],
    ['thread', { thread: { type: 'create' } }],
  ])('%s in %j', (param, changes) => {
    expect(rejection(changes)).toMatchObject({ status: 400, param })
  })
})
