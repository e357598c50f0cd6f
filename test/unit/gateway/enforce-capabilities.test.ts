import { describe, expect, test } from 'bun:test'
import {
  enforceCapabilities,
  type CapabilityOptions,
} from '../../../src/gateway/models/enforce-capabilities.ts'
import type { Generation, ToolChoice } from '../../../src/domain/generation/request.ts'
import { ApiError } from '../../../src/lib/errors/errors.ts'
import { modelsWith } from './support/model-fixtures.ts'

const plain: Generation = { messages: [], tools: [], extras: {} }
const tools = [{ name: 'read_level' }]

/** A model that takes a temperature and nothing else. */
const model = modelsWith().find('alpha/one')!

function fitted(
  generation: Partial<Generation>,
  unsupported: CapabilityOptions['unsupported'] = 'drop',
  target = model,
) {
  const warnings: string[] = []
  const warn = (message: string) => void warnings.push(message)
  const options = { unsupported, names: { max_tokens: 'max_output_tokens' }, warn } as const
  return { generation: enforceCapabilities({ ...plain, ...generation }, target, options), warnings }
}

test('supported parameters stay unchanged', () => {
  const generation = {
    ...plain,
    temperature: 0.5,
    user: 'a',
    serviceTier: 'flex',
    extras: { top_k: 1 },
  } as const
  expect(fitted(generation)).toEqual({ generation, warnings: [] })
})

test('ignored parameters are named in one warning, as the client named them', () => {
  const { generation, warnings } = fitted({ topP: 0.5, maxTokens: 5, seed: 0 })
  expect(generation).toEqual({ ...plain, topP: undefined, maxTokens: undefined, seed: undefined })
  expect(warnings).toEqual([
    'Parameters `top_p`, `max_output_tokens` and `seed` are not supported by alpha/one and were ignored.',
  ])
  expect(fitted({ seed: 0 }).warnings).toEqual([
    'Parameter `seed` is not supported by alpha/one and was ignored.',
  ])
})

test('ignored tools take their tool_choice with them', () => {
  const { generation } = fitted({ tools, toolChoice: 'required', parallelToolCalls: false })
  expect(generation).toEqual({ ...plain, toolChoice: undefined, parallelToolCalls: undefined })
})

test('a parameter without an effect is ignored without a warning', () => {
  const { generation, warnings } = fitted(
    { topP: 1, frequencyPenalty: 0, logitBias: {}, effort: 'none' },
    'reject',
  )
  expect(warnings).toEqual([])
  expect(generation.topP).toBeUndefined()
})

test('a rejection names the parameter as the client did', () => {
  let refusal: unknown
  try {
    fitted({ maxTokens: 5 }, 'reject')
  } catch (error) {
    refusal = error
  }
  expect(refusal).toBeInstanceOf(ApiError)
  expect(refusal).toMatchObject({ status: 400, code: 'unsupported_parameter', param: 'max_output_tokens' })
})

describe('a limit to one tool call that the model does not support', () => {
  const callable = new Set([...model.supportedParameters, 'tools', 'tool_choice'] as const)
  const one = { tools, parallelToolCalls: false }
  const enforced = (generation: Partial<Generation>) =>
    fitted(generation, 'reject', { ...model, supportedParameters: callable })

  test.each<ToolChoice>(['required', { name: 'read_level' }])(
    'is ignored with a warning where the tool choice is %p',
    (toolChoice) => {
      const { generation, warnings } = enforced({ ...one, toolChoice })
      expect(generation).toEqual({ ...plain, tools, toolChoice, parallelToolCalls: undefined })
      expect(warnings).toEqual([
        'Parameter `parallel_tool_calls` is not supported by alpha/one and was ignored.',
      ])
    },
  )

  test('is rejected where the model decides how often it calls', () => {
    const rejection = expect.objectContaining({ status: 400, param: 'parallel_tool_calls' })
    expect(() => enforced(one)).toThrow(rejection)
    expect(() => enforced({ ...one, toolChoice: 'auto' })).toThrow(rejection)
  })

  test('has no effect without tools', () => {
    expect(enforced({ parallelToolCalls: false })).toEqual({ generation: plain, warnings: [] })
  })
})

test('the request of the client is not modified', () => {
  const input = Object.freeze({ ...plain, topP: 0.5, tools: Object.freeze([...tools]) })
  fitted(input)
  expect(input).toMatchObject({ topP: 0.5, tools })
})
