import { describe, expect, test } from 'bun:test'
import type { Effort, Generation } from '../../../../src/domain/generation/request.ts'
import type { Target } from '../../../../src/providers/protocols/protocol.ts'
import { protocolNamed } from './support/chunks.ts'
import { exampleGeneration, plainGeneration } from './support/generations.ts'

function render(generation: Partial<Generation>, target: Partial<Target> = {}, kind = 'gemini') {
  const warnings: string[] = []
  const requested = { model: 'gemini-3.5-flash', stream: false, ...target }
  const body = protocolNamed(kind).render({ ...plainGeneration, ...generation }, requested, (message) =>
    warnings.push(message),
  )
  return { body: JSON.parse(JSON.stringify(body)), warnings }
}

const tools = exampleGeneration.tools
const schema = { type: 'object', properties: { open: { type: 'integer' } }, additionalProperties: false }
const format = { type: 'json_schema', name: 'gate', schema } as const

describe('a generateContent request', () => {
  test('has only the contents for a plain prompt', () => {
    const contents = [{ role: 'user', parts: [{ text: 'How high is the river?' }] }]
    expect(render({}, { stream: true })).toEqual({ body: { contents }, warnings: [] })
  })

  test('has every parameter under its own name', () => {
    const { body, warnings } = render({
      temperature: 0.5,
      topP: 0.9,
      maxTokens: 40,
      choices: 2,
      stop: ['END'],
      seed: 7,
      presencePenalty: 0.1,
      frequencyPenalty: 0.2,
      serviceTier: 'priority',
    })
    expect(body.generationConfig).toEqual({
      temperature: 0.5,
      topP: 0.9,
      maxOutputTokens: 40,
      candidateCount: 2,
      stopSequences: ['END'],
      seed: 7,
      presencePenalty: 0.1,
      frequencyPenalty: 0.2,
    })
    expect(body.serviceTier).toBe('priority')
    expect(warnings).toEqual([])
  })

  test('warns once for each kind of unsupported parameter', () => {
    const { body, warnings } = render({
      logitBias: { '1': 2 },
      user: 'ada',
      tools: [{ name: 'f', strict: true }],
      parallelToolCalls: false,
      extras: { top_k: 4, min_p: 0.1, store: null },
    })
    expect(Object.keys(body)).toEqual(['contents', 'tools'])
    expect(warnings).toEqual([
      'Parameters `top_k`, `min_p`, `logit_bias`, `user` and `parallel_tool_calls` are not supported by gemini and were ignored.',
      'Property `tools[].function.strict` is not supported by gemini and was ignored.',
    ])
  })

  test('has neither of these parameters', () => {
    const { parameters } = protocolNamed('gemini')
    expect([parameters.has('logit_bias'), parameters.has('parallel_tool_calls')]).toEqual([false, false])
    expect(parameters.size).toBe(12)
  })

  test('has no service tier at Vertex, with a warning', () => {
    const { body, warnings } = render({ serviceTier: 'flex' }, {}, 'vertex')
    expect(body.serviceTier).toBeUndefined()
    expect(warnings).toEqual(['Service tier `flex` is not supported by vertex and was ignored.'])
  })

  test('lowers a limit above that of the model and drops a seed that is too large', () => {
    const { body, warnings } = render({ maxTokens: 99_999, seed: 2 ** 40 }, { maxOutputTokens: 65_536 })
    expect(body.generationConfig).toEqual({ maxOutputTokens: 65_536 })
    expect(warnings).toHaveLength(2)
  })
})

describe('the response format of a Gemini request', () => {
  test('has the schema unchanged', () => {
    expect(render({ format }).body.generationConfig).toEqual({
      responseMimeType: 'application/json',
      responseJsonSchema: schema,
    })
    expect(render({ format: { ...format, description: 'A gate' } }).body.generationConfig).toMatchObject({
      responseJsonSchema: { description: 'A gate', ...schema },
    })
  })

  test('is JSON without a schema, or plain text', () => {
    const json = { responseMimeType: 'application/json' }
    expect(render({ format: { type: 'json_object' } }).body.generationConfig).toEqual(json)
    expect(render({ format: { type: 'text' } }).body.generationConfig).toBeUndefined()
  })

  test('is an instruction in words where a model supports no schema beside tools', () => {
    const { body, warnings } = render({ format, tools }, { model: 'gemini-2.5-flash' })
    expect(body.generationConfig).toBeUndefined()
    expect(JSON.stringify(body.systemInstruction)).toContain('additionalProperties')
    expect(warnings).toHaveLength(1)
    expect(render({ format, tools }).body.generationConfig).toMatchObject({ responseJsonSchema: schema })
  })
})

describe('a reasoning effort for Gemini', () => {
  const thinkingOf = (model: string, effort: Effort) =>
    render({ effort }, { model }).body.generationConfig?.thinkingConfig

  test.each<[string, Effort, object | undefined]>([
    ['gemini-2.5-flash', 'none', { thinkingBudget: 0 }],
    ['gemini-2.5-flash', 'minimal', { thinkingBudget: 512, includeThoughts: true }],
    ['gemini-2.5-flash', 'high', { thinkingBudget: 24_576, includeThoughts: true }],
    ['gemini-2.5-flash', 'max', { thinkingBudget: 24_576, includeThoughts: true }],
    ['gemini-2.5-pro', 'none', { thinkingBudget: 128 }],
    ['gemini-2.5-pro', 'max', { thinkingBudget: 32_768, includeThoughts: true }],
    ['gemini-3.5-flash', 'minimal', { thinkingLevel: 'minimal', includeThoughts: true }],
    ['gemini-3.5-flash', 'none', { thinkingLevel: 'minimal' }],
    ['gemini-3.1-pro-preview', 'minimal', { thinkingLevel: 'low', includeThoughts: true }],
    ['gemini-3-pro-preview', 'max', { thinkingLevel: 'high', includeThoughts: true }],
    ['gemini-3.7-flash', 'none', { thinkingLevel: 'low' }],
    ['gemini-flash-latest', 'none', { thinkingBudget: 0 }],
    ['gemma-4-31b-it', 'medium', { thinkingLevel: 'high', includeThoughts: true }],
    ['gemini-2.0-flash', 'high', undefined],
    ['gemini-2.5-flash-image', 'high', undefined],
  ])('of %s at %s is %p', (model, effort, thinking) => {
    expect(thinkingOf(model, effort)).toEqual(thinking)
  })

  test('that a model does not support, or cannot omit, has a warning', () => {
    expect(render({ effort: 'low' }, { model: 'gemini-2.0-flash' }).warnings).toEqual([
      'Parameter `reasoning_effort` is not supported by gemini-2.0-flash and was ignored.',
    ])
    expect(render({ effort: 'none' }, { model: 'gemini-2.5-pro' }).warnings).toHaveLength(1)
    expect(render({ effort: 'none' }, { model: 'gemini-2.5-flash' }).warnings).toEqual([])
  })
})
