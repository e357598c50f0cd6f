import { expect, test } from 'bun:test'
import {
  completionOf,
  chunks,
  delta,
  chatOutput,
  streamReply,
  jsonReply,
} from '../../support/chat-fixtures.ts'
import { chatRequest, startScenario } from '../../support/scenario.ts'
import { breakOff, json, silence } from '../../support/script.ts'

const milliseconds = expect.any(Number)
const caller = { organization: expect.stringMatching(/^org_/), key: 'Test00000000' }
const request = expect.stringMatching(/^req_/)
const time = expect.stringMatching(/^\d{4}-.*Z$/)
const chat = { method: 'POST', path: '/v1/chat/completions' }
const failure = json({ error: { message: 'no' } }, { status: 500 })

test('the line of a call has its client, its model, its attempts and its usage', async () => {
  await using scenario = await startScenario(jsonReply(), { model: { pricing: { input: 1, output: 10 } } })
  const reply = await scenario.app.chat(chatRequest)
  expect(await scenario.app.requestLines.of(reply)).toEqual({
    time,
    request: reply.headers.get('x-request-id'),
    ...chat,
    status: 200,
    ...caller,
    model: 'acme/river',
    stream: false,
    attempts: [{ provider: 'acme', model: 'river-1', outcome: 'ok', ms: milliseconds }],
    provider: 'acme',
    upstream_model: 'river-1',
    input_tokens: 12,
    output_tokens: 5,
    cost_usd: '0.000062000',
    gateway_ms: milliseconds,
    upstream_ms: milliseconds,
    total_ms: milliseconds,
  })
  expect(scenario.app.requestLines.all.length).toBe(1)
})

test('the line of a stream is written at its end, and has the time to first token', async () => {
  const gate = Promise.withResolvers<void>()
  const rest = [delta({ content: 'metres' }, 'stop'), 'data: [DONE]\n\n']
  await using scenario = await startScenario(chunks([delta({ content: 'four' }), gate.promise, ...rest]))
  const { app } = scenario
  const reply = await app.chat({ ...chatRequest, stream: true })
  await app.requestLines.of(await app.request('/v1/models'))
  expect(app.requestLines.all.length).toBe(1)
  gate.resolve()
  await reply.text()
  const { first_token_ms, total_ms, upstream_ms, ...line } = await app.requestLines.of(reply)
  expect(line).toMatchObject({ ...chat, status: 200, stream: true, estimated: true })
  expect(Number(first_token_ms)).toBeLessThanOrEqual(Number(total_ms))
  expect(Number(upstream_ms)).toBeGreaterThan(0)
})

test('failed attempts are in the line and in server-timing, in order and with the reason', async () => {
  await using scenario = await startScenario([failure, failure], {
    other: [jsonReply()],
    settings: { retries: { attempts: 1 } },
  })
  const reply = await scenario.app.chat(chatRequest)
  const vain = { provider: 'acme', model: 'river-1', outcome: 'upstream_unavailable', ms: milliseconds }
  expect(await scenario.app.requestLines.of(reply)).toMatchObject({
    status: 200,
    provider: 'other',
    attempts: [vain, vain, { provider: 'other', model: 'river-2', outcome: 'ok', ms: milliseconds }],
  })
  const received = reply.headers.get('server-timing') ?? ''
  expect(received.match(/attempt;desc="acme 502 upstream_unavailable";dur=\d+\.\d{3}/g)).toHaveLength(2)
  expect(received).not.toContain('other')
})

test('a skipped route is in the line, too', async () => {
  const settings = { retries: { attempts: 0 }, breaker: { failures: 1, cooldown: '10m' } }
  await using scenario = await startScenario([failure], { settings, other: [jsonReply()], clock: () => 0 })
  await scenario.app.chat(chatRequest)
  const reply = await scenario.app.chat(chatRequest)
  expect(await scenario.app.requestLines.of(reply)).toMatchObject({
    attempts: [
      { provider: 'acme', outcome: 'circuit_open' },
      { provider: 'other', outcome: 'ok' },
    ],
  })
  expect(reply.headers.get('server-timing')).toContain('attempt;desc="acme circuit open"')
})

test('the line of a failed call has the reason', async () => {
  await using scenario = await startScenario(json({ error: { message: 'no' } }, { status: 401 }))
  const reply = await scenario.app.chat(chatRequest)
  expect(await scenario.app.requestLines.of(reply)).toMatchObject({
    status: 502,
    error: 'provider_key_rejected',
    attempts: [{ provider: 'acme', outcome: 'provider_key_rejected' }],
    input_tokens: 0,
  })
})

test('the line of a stream that breaks has the error, although its reply began with 200', async () => {
  const opening = Promise.withResolvers<void>()
  await using scenario = await startScenario(
    chunks([delta({ content: 'It is ' }), opening.promise], breakOff),
  )
  const reply = await scenario.app.chat({ ...chatRequest, stream: true })
  expect(reply.status).toBe(200)
  opening.resolve()
  await reply.text()
  const line = await scenario.app.requestLines.of(reply)
  expect(line).toMatchObject({ status: 502, error: 'upstream_unavailable' })
})

test('the line of a stream whose client disconnects has the error', async () => {
  await using scenario = await startScenario(chunks([delta({ content: 'It is ' }), new Promise(() => {})]))
  const aborting = new AbortController()
  const reply = await scenario.app.chat({ ...chatRequest, stream: true }, { signal: aborting.signal })
  await reply.body?.getReader().read()
  aborting.abort()
  const line = await scenario.app.requestLines.of(reply)
  expect(line).toMatchObject({ status: 499, error: 'client_gone', attempts: [{ outcome: 'client_gone' }] })
})

test('a client that disconnects before the reply has a line', async () => {
  await using scenario = await startScenario(silence)
  const { app, acme } = scenario
  const aborting = new AbortController()
  const reply = app.chat(chatRequest, { signal: aborting.signal }).catch(() => 'gone')
  await acme.request(0)
  aborting.abort()
  expect(await reply).toBe('gone')
  await app.requestLines.beyond(0)
  expect(JSON.parse(app.requestLines.all[0] ?? '')).toMatchObject({
    status: 499,
    error: 'client_gone',
    model: 'acme/river',
  })
  const metrics = await (await app.request('/metrics')).text()
  expect(metrics).toContain('weir_in_flight{kind="requests"} 1\n')
})

const keyless = { headers: { authorization: null } }
const refused: readonly [name: string, ask: Asked, line: object, absent: readonly string[]][] = [
  [
    'without a key',
    ['/v1/models', keyless],
    { status: 401, path: '/v1/models' },
    ['organization', 'key', 'model'],
  ],
  [
    'for no route',
    ['/v2/sk-weir-secret?q=secret'],
    { status: 404, method: 'GET', path: '/v2/[key]', reason: 'unknown_path', claimed_key: caller.key },
    ['organization', 'key', 'model'],
  ],
  [
    'for an unknown model',
    ['/v1/models/acme/sea'],
    { status: 404, error: 'model_not_found', ...caller },
    ['model'],
  ],
  ['by an unknown method', ['/v1/models', { method: 'PUT' }], { status: 405, method: 'PUT' }, ['model']],
  [
    'for its body',
    ['/v1/chat/completions', { body: '{' }],
    { status: 400, ...chat, ...caller },
    ['attempts'],
  ],
  [
    'for a parameter',
    ['/v1/chat/completions', { body: { ...chatRequest, temperature: 9 } }],
    { status: 400, ...caller },
    ['attempts', 'provider'],
  ],
]
type Asked = readonly [path: string, options?: object]

test.each([...refused])(
  'a request that is rejected %s has a line',
  async (_, [path, options], line, absent) => {
    await using scenario = await startScenario(jsonReply())
    const reply = await scenario.app.request(path, options)
    const received = await scenario.app.requestLines.of(reply)
    expect(received).toMatchObject({ request, ...line })
    for (const name of absent) expect(received).not.toHaveProperty(name)
    expect(JSON.stringify(received)).not.toContain('secret')
  },
)

test('a request over the limit has a line with its organization', async () => {
  const settings = { limits: { requests_per_minute: 1 } }
  await using scenario = await startScenario(jsonReply(completionRequested), { settings, clock: () => 0 })
  await scenario.app.chat(chatRequest)
  const reply = await scenario.app.chat(chatRequest)
  const line = await scenario.app.requestLines.of(reply)
  expect(line).toMatchObject({ status: 429, error: 'rate_limit_exceeded' })
})

const completionRequested = chatOutput()

test('health probes that succeed have no line, and those that fail have one', async () => {
  await using scenario = await startScenario(jsonReply())
  const { app } = scenario
  for (const path of ['/livez', '/readyz', '/metrics']) expect((await app.request(path)).status).toBe(200)
  app.runtime.drain()
  const reply = await app.request('/readyz')
  expect(await app.requestLines.of(reply)).toMatchObject({ path: '/readyz', status: 503 })
  expect(app.requestLines.all.length).toBe(1)
})

test.each([
  ['errors', 1],
  ['off', 0],
] as const)('fewer lines are written with log: %s', async (log, count) => {
  await using scenario = await startScenario(streamReply(), { settings: { log } })
  const { app } = scenario
  await (await app.chat({ ...chatRequest, stream: true })).text()
  await app.chat({ ...chatRequest, model: 'acme/sea' })
  // All lines are written when the gateway has stopped.
  await app.stop()
  expect(app.requestLines.all.length).toBe(count)
})

test('a background run has its own line when it ends', async () => {
  await using scenario = await startScenario(json(completionOf(chatOutput())))
  const { app } = scenario
  const body = { model: 'acme/river', input: 'How high is it?', background: true }
  const reply = await app.request('/v1/responses', { body })
  expect(reply.status).toBe(200)
  const line = await app.requestLines.of(reply, 2)
  const lines = app.requestLines.all.map((text) => JSON.parse(text))
  expect(lines[0]).toMatchObject({ path: '/v1/responses', status: 200, model: 'acme/river', ...caller })
  expect(lines[0]).not.toHaveProperty('attempts')
  expect(line).toMatchObject({
    background: true,
    status: 200,
    provider: 'acme',
    model: 'acme/river',
    ...caller,
  })
  expect(line).not.toHaveProperty('path')
})
