import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { chatOutput, jsonReply } from '../../support/chat-fixtures.ts'
import { readCompletion, readError } from '../../support/chat-reply.ts'
import { chatRequest, type ScenarioOptions, startScenario } from '../../support/scenario.ts'
import { json } from '../../support/script.ts'

const tools = [{ type: 'function', function: { name: 'read_level' } }]
const schema = { type: 'json_schema', json_schema: { name: 'a', schema: {} } }
const twoChoices = chatOutput({}, { choices: ['a', 'b'].map((text) => ({ text: [text], finish: 'stop' })) })

/** A request that asks for the parameter, and how a refusal names it. */
const requested: readonly (readonly [param: string, body: object])[] = [
  ['temperature', { temperature: 0.5 }],
  ['top_p', { top_p: 0.5 }],
  ['max_tokens', { max_tokens: 5 }],
  ['max_completion_tokens', { max_completion_tokens: 5 }],
  ['n', { n: 2 }],
  ['stop', { stop: 'END' }],
  ['tools', { tools }],
  ['tools', { tools, tool_choice: 'required' }],
  ['response_format', { response_format: schema }],
  ['response_format', { response_format: { type: 'json_object' } }],
  ['seed', { seed: 0 }],
  ['frequency_penalty', { frequency_penalty: 0.1 }],
  ['presence_penalty', { presence_penalty: 0.1 }],
  ['logit_bias', { logit_bias: { '1': 0 } }],
  ['reasoning_effort', { reasoning_effort: 'low' }],
]

const neutral: readonly object[] = [
  { temperature: 1, top_p: 1 },
  { n: 1 },
  { frequency_penalty: 0, presence_penalty: 0 },
  { logit_bias: {} },
  { tools: [] },
  { tools: [], tool_choice: 'none', parallel_tool_calls: false },
  { tool_choice: 'auto' },
  { response_format: { type: 'text' } },
  { reasoning_effort: 'none' },
  { stop: [] },
  { parallel_tool_calls: true },
  { modalities: ['text'] },
]

const never: readonly object[] = [
  { logprobs: true, top_logprobs: 2 },
  { user: 'a', service_tier: 'auto' },
  { metadata: {}, tags: [], store: false },
  { top_k: 3 },
]

async function ask(body: object, options: ScenarioOptions) {
  await using scenario = await startScenario(jsonReply(twoChoices), options)
  const response = await scenario.app.chat({ ...chatRequest, ...body })
  return { response, sent: scenario.acme.requests[0]?.body }
}

describe('a parameter that the model does not support', () => {
  const model = { supported_parameters: [] }
  const drop: ScenarioOptions = { model, settings: { unsupported_parameters: 'drop' } }

  test.each([...requested])('is rejected by the name that the client used: %s in %j', async (param, body) => {
    const { response, sent } = await ask(body, { model })
    expect(await readError(response)).toEqual({
      status: 400,
      message: expect.stringContaining(`'${param}'`),
      type: 'invalid_request_error',
      param,
      code: 'unsupported_parameter',
    })
    expect(sent).toBeUndefined()
  })

  test.each([...requested])(
    'is ignored with a warning where unsupported_parameters is drop: %s in %j',
    async (param, body) => {
      const { response, sent } = await ask(body, drop)
      const { warnings } = await readCompletion(response)
      expect(warnings).toEqual(expect.arrayContaining([expect.stringContaining(param)]))
      expect(sent).toEqual({ model: 'river-1', messages: chatRequest.messages })
    },
  )

  test.each([...neutral])('is accepted where its value is the default behaviour: %j', async (body) => {
    const { response, sent } = await ask(body, { model })
    expect(response.status).toBe(200)
    expect(await readCompletion(response)).not.toHaveProperty('warnings')
    expect(sent).toEqual({ model: 'river-1', messages: chatRequest.messages })
  })

  test.each([...never])('is not checked where it never reaches the model: %j', async (body) => {
    expect((await ask(body, { model })).response.status).toBe(200)
  })

  test('is not checked where the settings do not list supported parameters', async () => {
    const body = { temperature: 0.5, max_tokens: 5, seed: 1, tools, response_format: schema }
    expect((await ask(body, {})).response.status).toBe(200)
  })
})

describe('modalities', () => {
  const text = (protocol: string) =>
    json(readFileSync(join(import.meta.dir, '../../fixtures', protocol, 'text.json')).toString())
  const kinds = { 'openai-chat': 'openai-compatible', anthropic: 'anthropic', gemini: 'gemini' }

  test.each(Object.entries(kinds))(
    'give a warning only where they ask for more than text, from %s',
    async (protocol, kind) => {
      await using scenario = await startScenario(text(protocol), { acme: { kind } })
      const ask = async (body: object) => readCompletion(await scenario.app.chat({ ...chatRequest, ...body }))
      expect(await ask({ modalities: ['text'] })).not.toHaveProperty('warnings')
      const named = expect.stringContaining('`modalities`')
      expect(await ask({ modalities: ['text', 'audio'] })).toHaveProperty('warnings', [named])
      expect(await ask({ modalities: ['audio'] })).toHaveProperty('warnings', [named])
      expect(scenario.acme.requests).toHaveLength(3)
      for (const { body } of scenario.acme.requests) expect(body).not.toHaveProperty('modalities')
    },
  )
})

describe('a parameter value', () => {
  test('is rejected for 129 choices, and accepted for 128', async () => {
    const { response } = await ask({ n: 129 }, {})
    expect(await readError(response)).toMatchObject({ status: 400, code: 'unsupported_value', param: 'n' })
    expect((await ask({ n: 128 }, {})).response.status).toBe(200)
  })

  test.each([
    ['high', ['low', 'medium'], 'medium'],
    ['minimal', ['none', 'low', 'high'], 'low'],
    ['medium', ['low', 'high'], 'low'],
    ['none', ['low', 'high'], 'low'],
    ['max', ['none'], 'none'],
  ] as const)(
    'is adjusted where it is not supported: the effort %s of a model that supports %j becomes %s',
    async (effort, offered, used) => {
      const model = { reasoning: { supported_efforts: [...offered] } }
      const { response, sent } = await ask({ reasoning_effort: effort }, { model })
      const { warnings } = await readCompletion(response)
      expect(warnings).toEqual([
        `Reasoning effort \`${effort}\` is not supported by acme/river; \`${used}\` was used instead.`,
      ])
      expect(sent).toMatchObject({ reasoning_effort: used })
    },
  )

  test('is sent unchanged and without a warning where the model supports the effort', async () => {
    const model = { reasoning: { supported_efforts: ['low' as const] } }
    const { response, sent } = await ask({ reasoning_effort: 'low' }, { model })
    expect(await readCompletion(response)).not.toHaveProperty('warnings')
    expect(sent).toMatchObject({ reasoning_effort: 'low' })
  })
})

describe('performance_mode: fast', () => {
  const pricing = { input: 2, output: 4 }
  const byTier = { strategy: 'service_tier', service_tier: 'priority', pricing } as const
  const byModel = { strategy: 'model_variant', target_slug: 'acme/rapids', pricing } as const
  const rapids = { slug: 'acme/rapids', routes: [{ provider: 'acme', model: 'rapids-1' }] }

  test('requests the priority tier of the provider where the fast mode is a tier', async () => {
    const { response, sent } = await ask({ performance_mode: 'fast' }, { model: { fast: byTier } })
    expect(await readCompletion(response)).toMatchObject({ performance_mode: 'fast', model: 'acme/river' })
    expect(sent).toMatchObject({ model: 'river-1', service_tier: 'priority' })
    expect(sent).not.toHaveProperty('performance_mode')
  })

  test('overrides a service tier that the client names', async () => {
    const body = { performance_mode: 'fast', service_tier: 'flex' }
    expect((await ask(body, { model: { fast: byTier } })).sent).toMatchObject({ service_tier: 'priority' })
  })

  test('is served by another model where the fast mode is a model, and the reply names the requested one', async () => {
    const options = { model: { fast: byModel }, models: [rapids] }
    const { response, sent } = await ask({ performance_mode: 'fast' }, options)
    expect(await readCompletion(response)).toMatchObject({ performance_mode: 'fast', model: 'acme/river' })
    expect(sent).toMatchObject({ model: 'rapids-1' })
    expect(sent).not.toHaveProperty('service_tier')
  })

  test('checks the parameters of the fast mode', async () => {
    const fast = { ...byTier, supported_parameters: ['stop'] }
    const { response } = await ask({ performance_mode: 'fast', temperature: 0.5 }, { model: { fast } })
    expect(await readError(response)).toMatchObject({ code: 'unsupported_parameter', param: 'temperature' })
    expect((await ask({ temperature: 0.5 }, { model: { fast } })).response.status).toBe(200)
  })

  test.each([
    ['a model without one', {}],
    [
      'a model whose fast variant is off',
      { model: { fast: byModel }, models: [{ ...rapids, enabled: false }] },
    ],
  ] as const)('is rejected for %s', async (_, options) => {
    const { response, sent } = await ask({ performance_mode: 'fast' }, options as ScenarioOptions)
    expect(await readError(response)).toMatchObject({
      status: 400,
      code: 'unsupported_parameter',
      param: 'performance_mode',
    })
    expect(sent).toBeUndefined()
  })

  test('differs from performance_mode: standard, which changes nothing', async () => {
    const { response, sent } = await ask({ performance_mode: 'standard' }, { model: { fast: byTier } })
    expect((await readCompletion(response)).performance_mode).toBe('standard')
    expect(sent).not.toHaveProperty('service_tier')
  })
})

describe('functions, the form of tools before `tools`,', () => {
  const functions = [{ name: 'read_level' }]

  test('are rejected, because no client would get the calls of the model', async () => {
    for (const body of [{ functions }, { functions, function_call: 'auto' }]) {
      const { response, sent } = await ask(body, {})
      expect(await readError(response)).toMatchObject({
        status: 400,
        code: 'unsupported_parameter',
        param: 'functions',
        message: "Unsupported parameter: 'functions'. Use 'tools' and 'tool_choice' instead.",
      })
      expect(sent).toBeUndefined()
    }
  })

  test.each([{ functions: [] }, { functions: null }])('change nothing as %p', async (body) => {
    expect((await ask(body, {})).response.status).toBe(200)
  })
})
