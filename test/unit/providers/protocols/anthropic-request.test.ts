import { describe, expect, test } from 'bun:test'
import type { Format, Generation } from '../../../../src/domain/generation/request.ts'
import { callsMessage, render, resultMessage, textMessage, tool } from './support/anthropic-render.ts'
import { protocolNamed } from './support/chunks.ts'

const newest = 'claude-opus-5'
const schemaless = 'claude-sonnet-4-20250514'

describe('the parameters of a request to Claude', () => {
  test.each<[Partial<Generation>, Record<string, unknown>, number]>([
    [{ temperature: 0.5 }, { temperature: 0.5 }, 0],
    [{ temperature: 1.5 }, { temperature: 1 }, 1],
    [{ temperature: 1, topP: 0.5 }, { top_p: 0.5 }, 0],
    [{ temperature: 0.5, topP: 0.5 }, { temperature: 0.5 }, 1],
    [{ stop: ['END', ' \n'] }, { stop_sequences: ['END'] }, 1],
    [{ user: 'user-1' }, { metadata: { user_id: 'user-1' } }, 0],
    [{ serviceTier: 'auto' }, { service_tier: 'auto' }, 0],
    [{ serviceTier: 'default' }, { service_tier: 'standard_only' }, 0],
    [{ serviceTier: 'priority' }, { service_tier: 'auto' }, 1],
    [{ serviceTier: 'flex' }, {}, 1],
    [{ seed: 7, choices: 2, logitBias: { 4: 1 }, presencePenalty: 1, extras: { top_k: 3, x: null } }, {}, 1],
    [{ choices: 1, logitBias: {}, frequencyPenalty: 0, presencePenalty: 0, topP: 1 }, {}, 0],
  ])('are rendered as Anthropic defines them: %p', (changes, expected, warned) => {
    const { body, warnings } = render(changes)
    const { model: _model, max_tokens: _limit, messages: _messages, ...rest } = body
    expect(rest).toEqual(expected)
    expect(warnings).toHaveLength(warned)
  })

  test('are named in one warning where Anthropic does not support them', () => {
    const { warnings } = render({ seed: 7, extras: { top_k: 3, min_p: 0.1 } })
    expect(warnings).toEqual([
      'Parameters `seed`, `top_k` and `min_p` are not supported by anthropic and were ignored.',
    ])
  })

  test('omit temperature and top_p for models that reject them', () => {
    const { body, warnings } = render({ temperature: 0, topP: 0.5 }, newest)
    expect(body).not.toHaveProperty('temperature')
    expect(body).not.toHaveProperty('top_p')
    expect(warnings).toEqual([
      `Parameters \`temperature\` and \`top_p\` are not supported by ${newest} and were ignored.`,
    ])
    expect(render({ temperature: 1, topP: 1 }, newest).warnings).toEqual([])
  })

  test.each<[string, number | undefined, number | undefined, number]>([
    ['claude-haiku-4-5', undefined, undefined, 32_768],
    ['claude-haiku-4-5', undefined, 48_000, 48_000],
    ['claude-haiku-4-5', 48_000, undefined, 48_000],
    ['claude-3-haiku-20240307', undefined, undefined, 4096],
    ['claude-haiku-4-5', undefined, 1000, 1000],
    ['claude-haiku-4-5', 200, undefined, 200],
    ['claude-haiku-4-5', 2000, 1000, 1000],
    ['claude-3-haiku-20240307', 9999, undefined, 4096],
    ['kimi-k9', undefined, undefined, 8192],
    ['kimi-k9', 100_000, undefined, 100_000],
  ])('request %s for %p tokens of at most %p', (model, maxTokens, maxOutputTokens, expected) => {
    const { body, warnings } = render({ maxTokens }, model, { maxOutputTokens })
    expect(body.max_tokens).toBe(expected)
    expect(warnings).toHaveLength(maxTokens !== undefined && maxTokens > expected ? 1 : 0)
  })

  test('request a stream only where one is wanted', () => {
    expect(render({}, newest, { stream: true }).body.stream).toBe(true)
    expect(render({}, newest).body).not.toHaveProperty('stream')
  })

  test('are exactly those that the protocol offers', () => {
    const { parameters } = protocolNamed('anthropic')
    expect(parameters.has('reasoning_effort')).toBe(true)
    for (const name of ['n', 'seed', 'logit_bias'] as const) expect(parameters.has(name)).toBe(false)
  })
})

describe('the tools of a request to Claude', () => {
  test.each<[Partial<Generation>, unknown]>([
    [{}, undefined],
    [{ toolChoice: 'auto' }, { type: 'auto' }],
    [{ toolChoice: 'none', parallelToolCalls: false }, { type: 'none' }],
    [{ toolChoice: 'required' }, { type: 'any' }],
    [{ toolChoice: { name: 'f' } }, { type: 'tool', name: 'f' }],
    [{ parallelToolCalls: true }, undefined],
    [{ parallelToolCalls: false }, { type: 'auto', disable_parallel_tool_use: true }],
    [
      { toolChoice: 'required', parallelToolCalls: false },
      { type: 'any', disable_parallel_tool_use: true },
    ],
  ])('render the tool choice %p as Anthropic defines it', (changes, expected) => {
    expect(render({ tools: [tool], ...changes }, newest).body.tool_choice).toEqual(expected)
  })

  test('omit a choice without tools', () => {
    expect(render({ parallelToolCalls: false }).body).not.toHaveProperty('tool_choice')
  })

  const unforced = ['claude-fable-5', 'claude-opus-5-5', 'claude-sonnet-5-5']
  test.each(unforced)('cannot force a call of %s, which rejects that', (model) => {
    const { body, warnings } = render({ tools: [tool], toolChoice: { name: 'f' } }, model)
    expect(body.tool_choice).toEqual({ type: 'auto' })
    expect(warnings).toHaveLength(1)
  })

  test('have an empty schema for a tool without parameters', () => {
    expect(render({ tools: [{ name: 'f' }] }).body.tools).toEqual([
      { name: 'f', input_schema: { type: 'object', properties: {} } },
    ])
  })

  test('are closed where they are strict, and not strict for models without schemas', () => {
    const tools = [{ ...tool, strict: true }]
    expect(render({ tools }).body.tools).toMatchObject([
      { strict: true, input_schema: { additionalProperties: false } },
    ])
    const lenient = render({ tools }, schemaless)
    expect(JSON.stringify(lenient.body)).not.toContain('strict')
    expect(lenient.warnings).toHaveLength(1)
    expect(JSON.stringify(render({ tools: [{ ...tool, strict: false }] }).body)).not.toContain('strict')
  })
})

describe('the response format of a request to Claude', () => {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      age: { type: 'integer', minimum: 0, description: 'in years' },
      minimum: { type: ['object', 'null'], properties: { at: { type: 'string', format: 'color' } } },
      tags: { type: 'array', minItems: 1, maxItems: 3, items: { $ref: '#/$defs/tag' } },
      map: { type: ['object', 'null'] },
      either: {
        oneOf: [
          { type: 'string', format: 'date' },
          { type: 'object', additionalProperties: true },
        ],
      },
    },
    $defs: { tag: { enum: [{ type: 'object' }], default: { minimum: 1 } } },
  }
  const format: Format = { type: 'json_schema', name: 'person', description: 'One person.', schema }

  test('is a schema in the subset that Anthropic supports', () => {
    const before = structuredClone(schema)
    const { body, warnings } = render({ format, effort: 'low' }, newest)
    expect(body.output_config).toEqual({
      effort: 'low',
      format: {
        type: 'json_schema',
        schema: {
          description: 'One person.',
          type: 'object',
          properties: {
            age: { type: 'integer', description: 'in years' },
            minimum: {
              type: ['object', 'null'],
              properties: { at: { type: 'string' } },
              additionalProperties: false,
            },
            tags: { type: 'array', minItems: 1, items: { $ref: '#/$defs/tag' } },
            map: { type: ['object', 'null'], additionalProperties: false },
            either: {
              anyOf: [
                { type: 'string', format: 'date' },
                { type: 'object', additionalProperties: false },
              ],
            },
          },
          $defs: { tag: { enum: [{ type: 'object' }], default: { minimum: 1 } } },
          additionalProperties: false,
        },
      },
    })
    expect(schema).toEqual(before)
    expect(warnings).toEqual([
      'JSON Schema keywords `minimum`, `format`, `maxItems`, `oneOf` and `additionalProperties` are not supported by anthropic and were ignored.',
    ])
  })

  test('is the arguments of a forced tool where the model has no schemas', () => {
    const { body, warnings } = render({ format }, schemaless)
    expect(body.tools).toMatchObject([{ name: 'weir__give_answer', input_schema: schema }])
    expect(body.tool_choice).toEqual({
      type: 'tool',
      name: 'weir__give_answer',
      disable_parallel_tool_use: true,
    })
    expect(body).not.toHaveProperty('output_config')
    expect(warnings).toEqual([])
  })

  test('keeps other tools available, and adds nothing to forced calls', () => {
    const free = render({ format, tools: [tool] }, schemaless).body
    expect(free.tools).toMatchObject([{ name: 'f' }, { name: 'weir__give_answer' }])
    expect(free.tool_choice).toEqual({ type: 'any' })
    const forced = render({ format, tools: [tool], toolChoice: 'required' }, schemaless).body
    expect(forced.tools).toMatchObject([{ name: 'f' }])
    expect(forced.tools).toHaveLength(1)
  })

  test('is an instruction in words where nothing else is supported', () => {
    const messages = [textMessage('system', 'Be brief.'), textMessage('user', 'Hi')]
    const object = render({ messages, format: { type: 'json_object' } }, newest)
    expect(object.body.system).toMatch(/^Be brief\.\n\nAnswer with one JSON object/)
    expect(object.warnings).toHaveLength(1)
    const list = render({ format: { ...format, schema: { type: 'array' } } as Format }, schemaless)
    expect(list.body.system).toContain('{"description":"One person.","type":"array"}')
    expect(list.body).not.toHaveProperty('tools')
    expect(list.warnings).toHaveLength(1)
    expect(render({ format: { type: 'text' } }, schemaless).body).not.toHaveProperty('system')
  })
})

describe('Claude at Vertex', () => {
  const vertex = (changes: Partial<Generation>, model = 'claude-opus-4-6') =>
    render(changes, model, {}, 'vertex-anthropic')

  test('has its version in the body and its model in the URL', () => {
    const { body } = vertex({
      messages: [textMessage('user', 'Hi'), callsMessage(['a']), resultMessage('a')],
    })
    expect(body.anthropic_version).toBe('vertex-2023-10-16')
    expect(body).not.toHaveProperty('model')
    expect(body).toMatchObject({ messages: [{ role: 'user' }, { role: 'assistant' }, { role: 'user' }] })
  })

  test('has no tiers, and needs a forced tool for a schema', () => {
    const format: Format = { type: 'json_schema', name: 'a', schema: { type: 'object' } }
    const { body, warnings } = vertex({ serviceTier: 'priority', format })
    expect(body).not.toHaveProperty('service_tier')
    expect(body).not.toHaveProperty('output_config')
    expect(body.tool_choice).toMatchObject({ type: 'tool' })
    expect(warnings).toEqual(['Service tier `priority` is not supported by Vertex and was ignored.'])
    expect(vertex({ serviceTier: 'auto' }).warnings).toEqual([])
  })
})
