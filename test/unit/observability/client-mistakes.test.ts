import { afterAll, beforeAll, expect, test } from 'bun:test'
import { printApiKey } from '../../../src/domain/accounting/api-key.ts'
import { jsonReply } from '../../support/chat-fixtures.ts'
import { chatRequest, type Scenario, startScenario } from '../../support/scenario.ts'
import { openConnection } from '../../support/connection.ts'
import type { RequestOptions } from '../../support/app.ts'
import type { Fields } from '../../../src/lib/json/json.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario(jsonReply(), {
    settings: {
      max_body: 10_000,
      models: [],
    },
    model: { aliases: ['river-alias'] },
    models: [
      { slug: 'acme/sea', routes: [{ provider: 'acme', model: 'sea' }] },
      { slug: 'else/sea', routes: [{ provider: 'acme', model: 'sea' }] },
      { slug: 'acme/off', enabled: false, routes: [{ provider: 'acme', model: 'off' }] },
    ],
  })
})
afterAll(() => scenario[Symbol.asyncDispose]())

const agent = 'river-client/1.2 (test)'
const publicId = 'Test00000000'
const owner = { organization: expect.stringMatching(/^org_/), key: publicId }
const chat = '/v1/chat/completions'
const bearer = (key: string) => ({ headers: { authorization: `Bearer ${key}` } })
const forged = (id: string) => printApiKey({ publicId: id, secret: 'x'.repeat(32) })
const asks = (more: object, path = chat): readonly [string, RequestOptions] => [
  path,
  { body: { ...chatRequest, ...more } },
]

type Mistake = readonly [name: string, request: readonly [string, RequestOptions?], line: Fields]

const mistakes: readonly Mistake[] = [
  ['no key', ['/v1/models', { headers: { authorization: null } }], { status: 401, reason: 'missing_key' }],
  [
    'another scheme',
    ['/v1/models', { headers: { authorization: 'Basic YTpi' } }],
    { status: 401, reason: 'missing_key' },
  ],
  [
    'a malformed key',
    ['/v1/models', bearer('sk-proj-of-another-service')],
    { status: 401, reason: 'malformed_key' },
  ],
  [
    'an unknown key',
    ['/v1/models', bearer(forged('Nobody000000'))],
    { status: 401, reason: 'unknown_key', claimed_key: 'Nobody000000' },
  ],
  [
    'a wrong secret',
    ['/v1/models', bearer(forged(publicId))],
    { status: 401, reason: 'wrong_secret', claimed_key: publicId },
  ],
  [
    'a path without /v1',
    asks({}, '/chat/completions'),
    { status: 404, method: 'POST', path: '/chat/completions', reason: 'unknown_path', claimed_key: publicId },
  ],
  [
    'a doubled /v1',
    asks({}, '/v1/v1/chat/completions'),
    { status: 404, path: '/v1/v1/chat/completions', reason: 'unknown_path' },
  ],
  [
    'an endpoint that is not supported',
    asks({}, '/v1/moderations'),
    { status: 404, path: '/v1/moderations', reason: 'unsupported_endpoint' },
  ],
  [
    'a method that the path does not have',
    ['/v1/models', { method: 'PUT' }],
    { status: 405, method: 'PUT', path: '/v1/models', error: 'method_not_supported' },
  ],
  [
    'an unknown model',
    asks({ model: 'acme/rivr' }),
    {
      status: 404,
      path: chat,
      error: 'model_not_found',
      reason: 'unknown_model',
      requested_model: 'acme/rivr',
      param: 'model',
      ...owner,
    },
  ],
  [
    'an unknown model to look up',
    ['/v1/models/acme/rivr'],
    { status: 404, reason: 'unknown_model', requested_model: 'acme/rivr', ...owner },
  ],
  [
    'an ambiguous model',
    asks({ model: 'sea' }),
    { status: 404, reason: 'ambiguous_model', requested_model: 'sea' },
  ],
  [
    'a disabled model',
    asks({ model: 'off' }),
    { status: 404, reason: 'disabled_model', requested_model: 'off', model: 'acme/off' },
  ],
  [
    'the built-in model, where providers are configured',
    asks({ model: 'weir/echo' }),
    { status: 404, reason: 'disabled_model', model: 'weir/echo' },
  ],
  [
    'an unknown model of a response',
    ['/v1/responses', { body: { model: 'nobody/x', input: 'a' } }],
    { status: 404, path: '/v1/responses', requested_model: 'nobody/x', ...owner },
  ],
  [
    'a wrong parameter',
    asks({ temperature: 9 }),
    {
      status: 400,
      error: 'decimal_above_max_value',
      param: 'temperature',
      requested_model: 'acme/river',
      ...owner,
    },
  ],
  [
    'a parameter deep inside',
    asks({ messages: [{ role: 'user', content: 5 }] }),
    { status: 400, error: 'invalid_type', param: 'messages[0].content' },
  ],
  [
    'a missing parameter',
    ['/v1/responses', { body: { model: 'acme/river' } }],
    { status: 400, error: 'missing_required_parameter', param: 'input', requested_model: 'acme/river' },
  ],
  [
    'an unsupported parameter',
    asks({ n: 3, performance_mode: 'fast', model: 'river-alias' }),
    {
      status: 400,
      error: 'unsupported_parameter',
      param: 'performance_mode',
      model: 'acme/river',
      requested_model: 'river-alias',
      ...owner,
    },
  ],
  ['a wrong query parameter', [`${chat}?limit=1000`], { status: 400, param: 'limit', ...owner }],
  ['a body that is not JSON', [chat, { body: '{' }], { status: 400, reason: 'invalid_json', ...owner }],
  [
    'a body that is too large',
    [chat, { body: 'x'.repeat(10_001) }],
    { status: 413, error: 'request_too_large', ...owner },
  ],
  [
    'a form',
    [chat, { body: 'a', headers: { 'content-type': 'multipart/form-data; boundary=a' } }],
    { status: 415, error: 'unsupported_media_type', ...owner },
  ],
]

test.each([...mistakes])(
  'a client mistake can be diagnosed from the log alone: %s',
  async (_, [path, options = {}], line) => {
    const { app } = scenario
    const headers = { 'user-agent': agent, ...options.headers }
    const reply = await app.request(path, { ...options, headers })
    const received = await app.requestLines.of(reply)
    expect(received).toMatchObject({ ...line, user_agent: agent, request: reply.headers.get('x-request-id') })
    expect(reply.status).toBe(line.status as number)
  },
)

test('a request over the limit can be diagnosed from the log alone', async () => {
  await using own = await startScenario(jsonReply(), {
    settings: { limits: { requests_per_minute: 1 } },
    clock: () => 0,
  })
  const { app } = own
  await app.chat(chatRequest)
  const limited = await app.chat(chatRequest)
  expect(await app.requestLines.of(limited)).toMatchObject({
    status: 429,
    error: 'rate_limit_exceeded',
    reason: 'requests_limit',
    ...owner,
  })
})

test('the log line of a call by another name of its model has that name, too', async () => {
  const { app } = scenario
  const line = await app.requestLines.of(await app.chat({ ...chatRequest, model: 'river-alias' }))
  expect(line).toMatchObject({ status: 200, model: 'acme/river', requested_model: 'river-alias' })
  expect(line).not.toHaveProperty('user_agent')
})

test('client values in a log line are short, without control characters and without secrets', async () => {
  const { app } = scenario
  const secret = 'sk-0123456789abcdef'
  const reply = await app.request(`/${'p'.repeat(500)}`, {
    headers: { 'user-agent': `${secret} ${'u'.repeat(5000)}` },
  })
  const line = await app.requestLines.of(reply)
  expect(String(line.path).length).toBeLessThan(110)
  expect(String(line.user_agent).length).toBeLessThan(110)
  expect(JSON.stringify(line)).not.toContain(secret)
  const requested = await app.chat({ ...chatRequest, model: `a\nb\u2028${'m'.repeat(5000)}` })
  const { requested_model } = await app.requestLines.of(requested)
  expect(requested_model).toBe('a…')
  const long = await app.chat({ ...chatRequest, model: 'm'.repeat(5000) })
  expect(String((await app.requestLines.of(long)).requested_model).length).toBeLessThan(110)
})

test('a method that HTTP does not know can be diagnosed from the log alone', async () => {
  const connection = await openConnection(scenario.app.url)
  connection.write('M-SEARCH /v1/models HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n')
  const reply = await connection.end()
  expect(reply).toStartWith('HTTP/1.1 501')
  const id = /^x-request-id: (\S+)/im.exec(reply)?.[1] ?? ''
  const line = await scenario.app.requestLines.withId(id)
  expect(line).toMatchObject({ status: 501, method: 'M-SEARCH', error: 'method_not_implemented' })
})

test('the metrics count client mistakes by kind, without any text of the client', async () => {
  const { app } = scenario
  const samples = (await (await app.request('/metrics')).text()).split('\n')
  const rejected = samples.filter((line) => line.startsWith('weir_rejected_requests_total{'))
  const labels = 'method="POST",path="/v1/chat/completions",error="model_not_found",reason="unknown_model"'
  expect(rejected.join('\n')).toContain(`weir_rejected_requests_total{${labels}} `)
  expect(rejected.join('\n')).toContain('method="POST",error="invalid_request_error",reason="unknown_path"')
  for (const word of ['rivr', 'moderations', 'M-SEARCH', 'Nobody'])
    expect(samples.join('\n')).not.toContain(word)
})
