import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { ModelDetails } from '../../../src/config/model-details.ts'
import { jsonReply } from '../../support/chat-fixtures.ts'
import { readError } from '../../support/chat-reply.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'

const routes = [{ provider: 'acme', model: 'river-1' }]
const hosted = [{ provider: 'hosted', model: 'river-1' }]
const models: readonly ModelDetails[] = [
  { slug: 'acme/vectors', routes, supported_apis: ['embeddings'] },
  { slug: 'acme/prompts', routes, supported_apis: ['completions'] },
  { slug: 'acme/hosted', routes: hosted },
  { slug: 'acme/hosted-vectors', routes: hosted, supported_apis: ['embeddings'] },
  { slug: 'acme/hosted-prompts', routes: hosted, supported_apis: ['completions'] },
  { slug: 'acme/hosted-texts', routes: hosted, supported_apis: ['completions', 'embeddings'] },
  {
    slug: 'acme/keyless-prompts',
    routes: [{ provider: 'openai', model: 'x' }],
    enabled: true,
    supported_apis: ['completions'],
  },
  { slug: 'acme/mixed-prompts', routes: [...hosted, ...routes], supported_apis: ['completions'] },
  { slug: 'acme/texts', routes: [{ provider: 'texts', model: 'x' }], supported_apis: ['embeddings'] },
  {
    slug: 'acme/both',
    routes: [...hosted, ...routes],
    supported_apis: ['chat_completions', 'embeddings', 'embeddings'],
  },
]
const key = { api_key: 'sk-provider' }

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario(jsonReply(), {
    models,
    settings: {
      providers: {
        hosted: { kind: 'anthropic', ...key, base_url: 'http://127.0.0.1:9' },
        texts: { kind: 'gemini', ...key, base_url: 'http://127.0.0.1:9' },
      },
    },
  })
})
afterAll(() => scenario[Symbol.asyncDispose]())

const bodies: Readonly<Record<string, object>> = {
  '/v1/chat/completions': { messages: [{ role: 'user', content: 'Hi' }] },
  '/v1/responses': { input: 'Hi' },
  '/v1/completions': { prompt: 'Hi' },
  '/v1/embeddings': { input: 'Hi' },
}

function ask(path: string, model: string, changes: object = {}): Promise<Response> {
  return scenario.app.request(path, { method: 'POST', body: { ...bodies[path], model, ...changes } })
}

describe('a model that does not support the API is rejected, and the message names an API that it supports', () => {
  test.each([
    ['/v1/chat/completions', 'acme/vectors', 400, 'unsupported_value', '/v1/embeddings'],
    ['/v1/responses', 'acme/vectors', 400, 'unsupported_value', '/v1/embeddings'],
    ['/v1/completions', 'acme/vectors', 404, 'model_not_found', '/v1/embeddings'],
    ['/v1/chat/completions', 'acme/prompts', 400, 'unsupported_value', '/v1/completions'],
    ['/v1/embeddings', 'acme/prompts', 400, 'unsupported_value', '/v1/completions'],
    ['/v1/embeddings', 'acme/river', 400, 'unsupported_value', '/v1/chat/completions'],
    ['/v1/embeddings', 'acme/hosted', 400, 'unsupported_value', '/v1/chat/completions'],
    ['/v1/completions', 'acme/hosted', 404, 'model_not_found', '/v1/chat/completions'],
    ['/v1/responses', 'acme/both', 400, 'unsupported_value', '/v1/chat/completions'],
    ['/v1/embeddings', 'acme/keyless-prompts', 400, 'unsupported_value', '/v1/completions'],
  ])('%s with %s', async (path, model, status, code, instead) => {
    const error = await readError(await ask(path, model))
    expect(error).toEqual({
      status,
      code,
      param: 'model',
      type: 'invalid_request_error',
      message: `The model ${model} does not support ${path}. Use ${instead} instead.`,
    })
    expect(scenario.acme.requests).toHaveLength(0)
  })

  test('and one whose provider does not offer it names none', async () => {
    const error = await readError(await ask('/v1/embeddings', 'acme/hosted-vectors'))
    expect(error).toMatchObject({
      status: 400,
      message: 'The model acme/hosted-vectors does not support /v1/embeddings.',
    })
  })

  test.each([
    ['/v1/chat/completions', 'acme/hosted-vectors', 400],
    ['/v1/completions', 'acme/hosted-texts', 404],
    ['/v1/embeddings', 'acme/hosted-texts', 400],
  ])('and at %s, %s names no other API that its provider does not offer', async (path, model, status) => {
    expect(await readError(await ask(path, model))).toMatchObject({
      status,
      message: `The model ${model} does not support ${path}.`,
    })
  })

  test.each([
    ['nothing else', {}],
    ['parameters that no provider of the model supports', { max_tokens: 5, temperature: 0.5 }],
  ])('and one whose provider offers no completions does so for a request with %s', async (_, changes) => {
    expect(await readError(await ask('/v1/completions', 'acme/hosted-prompts', changes))).toEqual({
      status: 404,
      code: 'model_not_found',
      param: 'model',
      type: 'invalid_request_error',
      message: 'The model acme/hosted-prompts does not support /v1/completions.',
    })
  })

  test('and the log has the reason', async () => {
    const line = await scenario.app.requestLines.of(await ask('/v1/completions', 'acme/hosted'))
    expect(line).toMatchObject({ status: 404, error: 'model_not_found' })
  })
})

test('a completion model whose provider has no key says what is missing, and rejects no parameter', async () => {
  const error = await readError(await ask('/v1/completions', 'acme/keyless-prompts'))
  expect(error).toMatchObject({
    status: 502,
    param: null,
    message: expect.stringContaining('OPENAI_API_KEY'),
  })
})

test('token ids for a provider that accepts only text are a 400 that names the field', async () => {
  expect(await readError(await ask('/v1/embeddings', 'acme/texts', { input: [1, 2] }))).toMatchObject({
    status: 400,
    param: 'input',
    code: 'unsupported_value',
    message: "Invalid 'input': acme/texts accepts text, but no lists of token ids.",
  })
})

test('only the providers of a model that offer the API are tried', async () => {
  scenario.acme.respondWith(jsonReply())
  const reply = await ask('/v1/embeddings', 'acme/both')
  // The reply is no embedding; the point is which provider was called.
  expect(await readError(reply)).toMatchObject({ status: 502 })
  expect(scenario.acme.requests.map(({ path }) => path)).toEqual(['/v1/embeddings'])
  expect(scenario.app.lines.join('\n')).not.toContain('hosted')
})

test('a model has the parameters of the first provider that offers its API', async () => {
  scenario.acme.respondWith(jsonReply())
  const reply = await ask('/v1/completions', 'acme/mixed-prompts', { temperature: 0.5 })
  expect(reply.status).not.toBe(400)
  expect(scenario.acme.requests.at(-1)).toMatchObject({ path: '/v1/completions', body: { temperature: 0.5 } })
})

test('the list of models shows the APIs and the parameters of each model', async () => {
  const list = (await (await scenario.app.request('/v1/models')).json()) as {
    data: { id: string; supported_apis: string[]; supported_parameters: string[] }[]
  }
  const of = (slug: string) => list.data.find(({ id }) => id === slug)
  const conversations = ['chat_completions', 'responses', 'messages']
  expect(of('acme/river')?.supported_apis).toEqual([...conversations, 'completions'])
  expect(of('acme/hosted')?.supported_apis).toEqual(conversations)
  expect(of('acme/both')?.supported_apis).toEqual(['chat_completions', 'embeddings'])
  expect(of('acme/vectors')).toMatchObject({ supported_apis: ['embeddings'], supported_parameters: [] })
  expect(of('acme/prompts')?.supported_parameters).toContain('temperature')
  expect(of('acme/prompts')?.supported_parameters).not.toContain('tools')
})
