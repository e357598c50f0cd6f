import { expect, test } from 'bun:test'
import type { App } from '../../support/app.ts'
import { chunks, delta, streamReply, jsonReply } from '../../support/chat-fixtures.ts'
import { chatRequest, startScenario } from '../../support/scenario.ts'
import { json } from '../../support/script.ts'

const failure = json({ error: { message: 'no' } }, { status: 500 })
const requested = 'gen_ai_operation_name="chat",gen_ai_provider_name="openai-compatible"'
const river = `${requested},gen_ai_request_model="acme/river"`

/** Every sample by its name and labels, as they are written. */
async function samplesOf(app: App): Promise<Map<string, number>> {
  const reply = await app.request('/metrics')
  expect(reply.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  const lines = (await reply.text()).trimEnd().split('\n')
  const samples = lines.filter((line) => !line.startsWith('#'))
  return new Map(
    samples.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]),
  )
}

test('requests are counted by method, path and status', async () => {
  await using scenario = await startScenario(jsonReply())
  const { app } = scenario
  await app.chat(chatRequest)
  await app.chat(chatRequest)
  await app.request('/v1/models/acme/sea')
  await app.request('/of/the/caller')
  const samples = await samplesOf(app)
  expect(samples.get('weir_requests_total{method="POST",path="/v1/chat/completions",status="200"}')).toBe(2)
  expect(samples.get('weir_requests_total{method="GET",path="/v1/models/*",status="404"}')).toBe(1)
  expect(samples.get('weir_requests_total{method="GET",status="404"}')).toBe(1)
})

test('a call is counted under the names of OpenTelemetry', async () => {
  await using scenario = await startScenario(jsonReply(), { model: { pricing: { input: 1, output: 10 } } })
  await scenario.app.chat(chatRequest)
  const samples = await samplesOf(scenario.app)
  const tokens = (type: string) => `{${river},gen_ai_token_type="${type}"}`
  expect(samples.get(`gen_ai_server_request_duration_seconds_count{${river}}`)).toBe(1)
  expect(samples.get(`gen_ai_client_token_usage_sum${tokens('input')}`)).toBe(12)
  expect(samples.get(`gen_ai_client_token_usage_sum${tokens('output')}`)).toBe(5)
  const upstream = `${requested},gen_ai_request_model="river-1"`
  expect(samples.get(`gen_ai_client_operation_duration_seconds_count{${upstream}}`)).toBe(1)
  expect(samples.get('weir_gateway_overhead_seconds_count{path="/v1/chat/completions"}')).toBe(1)
  expect(samples.get('weir_cost_usd_total{model="acme/river"}')).toBeCloseTo(0.000062, 9)
  expect([...samples.keys()].join()).not.toContain('time_to_first_token')
})

test('a stream records its time to first token and its time per token', async () => {
  await using scenario = await startScenario(streamReply())
  await (await scenario.app.chat({ ...chatRequest, stream: true })).text()
  const samples = await samplesOf(scenario.app)
  const first = samples.get(`gen_ai_server_time_to_first_token_seconds_sum{${river}}`) ?? 0
  expect(first).toBeGreaterThan(0)
  expect(first).toBeLessThanOrEqual(samples.get(`gen_ai_server_request_duration_seconds_sum{${river}}`) ?? 0)
  expect(samples.get(`gen_ai_server_time_per_output_token_seconds_count{${river}}`)).toBe(1)
})

test('failures are counted by their code', async () => {
  await using scenario = await startScenario(failure, { other: [jsonReply()] })
  await scenario.app.chat(chatRequest)
  scenario.other.respondWith(failure)
  await scenario.app.chat(chatRequest)
  const samples = await samplesOf(scenario.app)
  expect(samples.get('weir_attempts_total{provider="acme",outcome="upstream_unavailable"}')).toBe(2)
  expect(samples.get('weir_attempts_total{provider="other",outcome="ok"}')).toBe(1)
  const failed = `gen_ai_server_request_duration_seconds_count{${river},error_type="upstream_unavailable"}`
  expect(samples.get(failed)).toBe(1)
})

test('open requests are counted, and only while they are open', async () => {
  const gate = Promise.withResolvers<void>()
  await using scenario = await startScenario(
    chunks([delta({ content: 'four' }), gate.promise, 'data: [DONE]\n\n']),
  )
  const { app } = scenario
  const reply = await app.chat({ ...chatRequest, stream: true })
  const before = await samplesOf(app)
  const kinds = ['requests', 'calls', 'streams'].map((kind) => `weir_in_flight{kind="${kind}"}`)
  expect(kinds.map((kind) => before.get(kind))).toEqual([2, 1, 1])
  expect(before.get('weir_requests_in_flight_at_start_bucket{le="1"}')).toBe(1)
  expect(before.get('weir_requests_in_flight_at_start_bucket{le="2"}')).toBe(2)
  gate.resolve()
  await reply.text()
  await app.requestLines.of(reply)
  const after = await samplesOf(app)
  expect(kinds.map((kind) => after.get(kind))).toEqual([1, 0, 0])
})

test('an open circuit of a route is reported until the route is called again', async () => {
  const settings = { retries: { attempts: 0 }, breaker: { failures: 1, cooldown: '10m' } }
  await using scenario = await startScenario(failure, { settings })
  const open = 'weir_breaker_open{provider="acme",model="river-1"}'
  expect((await samplesOf(scenario.app)).has(open)).toBe(false)
  await scenario.app.chat(chatRequest)
  expect((await samplesOf(scenario.app)).get(open)).toBe(1)
})

test('the process and the database report their metrics', async () => {
  await using scenario = await startScenario(jsonReply())
  await scenario.app.chat(chatRequest)
  const samples = await samplesOf(scenario.app)
  expect(samples.get('process_resident_memory_bytes')).toBeGreaterThan(1e6)
  expect(samples.get('process_cpu_seconds_total')).toBeGreaterThan(0)
  const startedAt = (samples.get('process_start_time_seconds') ?? 0) * 1000
  expect(startedAt).toBeLessThanOrEqual(Date.now())
  expect(samples.get('weir_database_commits_total')).toBeGreaterThan(0)
  expect(samples.get('weir_database_writes_waiting')).toBe(0)
  expect([...samples.keys()].filter((name) => name.startsWith('weir_build_info'))).toHaveLength(1)
})

test('no label contains values that clients choose, nor their identity', async () => {
  await using scenario = await startScenario(jsonReply())
  const { app } = scenario
  await app.chat({ ...chatRequest, model: 'chosen/by-caller' })
  await app.request('/v1/models/chosen-by-caller')
  await app.request('/chosen-by-caller?chosen=by-caller', { method: 'CHOSEN' })
  await app.chat({ ...chatRequest, user: 'chosen-by-caller', tags: ['chosen-by-caller'] })
  const text = await (await app.request('/metrics')).text()
  expect(text).toContain('acme/river')
  for (const word of ['chosen', 'CHOSEN', 'org_', 'Test00000000', 'req_']) expect(text).not.toContain(word)
})

test('counters survive a reload of the settings', async () => {
  await using scenario = await startScenario(jsonReply())
  const { app } = scenario
  await app.chat(chatRequest)
  const { settings } = app.runtime.configuration()
  await app.runtime.reload({ settings, file: null, environment: {} })
  await app.chat(chatRequest)
  const counted = 'weir_requests_total{method="POST",path="/v1/chat/completions",status="200"}'
  expect((await samplesOf(app)).get(counted)).toBe(2)
})
