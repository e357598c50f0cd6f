import { expect, test } from 'bun:test'
import { startApp } from '../../support/app.ts'
import { streamReply, jsonReply } from '../../support/chat-fixtures.ts'
import { chatRequest, startScenario, type ScenarioOptions } from '../../support/scenario.ts'
import { json, type Script } from '../../support/script.ts'
import { type CollectedSpan, type Collector, createCollector } from './support/collector.ts'

const server = 2
const client = 3
const failure = json({ error: { message: 'no' } }, { status: 500 })
const traceId = '0af7651916cd43dd8448eb211c80319c'
const spanId = 'b7ad6b7169203331'

/** Starts a gateway that sends its traces to this collector, asks it, and stops it: then all spans are there. */
async function tracesOf(
  collector: Collector,
  script: Script,
  requested: { body?: object; headers?: Readonly<Record<string, string>>; options?: ScenarioOptions } = {},
): Promise<readonly CollectedSpan[]> {
  const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...requested.options?.environment }
  await using scenario = await startScenario(script, { ...requested.options, environment })
  const reply = await scenario.app.chat({ ...chatRequest, ...requested.body }, { headers: requested.headers })
  await reply.text()
  await scenario.app.requestLines.of(reply)
  await scenario.app.stop()
  return collector.spans
}

test('a request is a span, and each attempt is a child of it', async () => {
  await using collector = createCollector()
  const spans = await tracesOf(collector, failure, { options: { other: [jsonReply()] } })
  const request = spans.find(({ kind }) => kind === server)
  const attempts = spans.filter(({ kind }) => kind === client)
  expect(collector.requests[0]?.path).toBe('/v1/traces')
  expect(spans).toHaveLength(3)
  expect(request?.name).toBe('chat acme/river')
  expect(request?.parentSpanId).toBeUndefined()
  expect(attempts.map(({ name }) => name)).toEqual(['chat river-1', 'chat river-2'])
  for (const attempt of attempts) {
    expect(attempt).toMatchObject({ traceId: request?.traceId, parentSpanId: request?.spanId })
    expect(BigInt(attempt.startTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(request?.startTimeUnixNano ?? 0))
    expect(BigInt(attempt.endTimeUnixNano)).toBeLessThanOrEqual(BigInt(request?.endTimeUnixNano ?? 0))
  }
})

test('the spans have the attributes that OpenTelemetry names, and the outcome', async () => {
  await using collector = createCollector()
  const spans = await tracesOf(collector, failure, {
    options: { other: [streamReply()] },
    body: { stream: true },
  })
  const [request] = spans.filter(({ kind }) => kind === server)
  const [failed, replied] = spans.filter(({ kind }) => kind === client)
  expect(request?.attributes).toMatchObject({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai-compatible',
    'gen_ai.request.model': 'acme/river',
    'gen_ai.response.model': 'river-2',
    'gen_ai.usage.input_tokens': 12,
    'gen_ai.usage.output_tokens': 5,
    'http.route': '/v1/chat/completions',
    'http.response.status_code': 200,
    'weir.key.id': 'Test00000000',
  })
  expect(request?.attributes).toHaveProperty(['gen_ai.response.time_to_first_chunk'])
  expect(request?.status.code).toBe(0)
  expect(failed?.attributes).toMatchObject({ 'error.type': 'upstream_unavailable', 'weir.provider': 'acme' })
  expect(failed?.status.code).toBe(2)
  expect(replied?.attributes).not.toHaveProperty(['error.type'])
})

test('the header traceparent sets the parent of the span', async () => {
  await using collector = createCollector()
  const headers = { traceparent: `00-${traceId}-${spanId}-01` }
  const spans = await tracesOf(collector, jsonReply(), { headers, body: { trace: { id: 'f'.repeat(32) } } })
  expect(spans.find(({ kind }) => kind === server)).toMatchObject({ traceId, parentSpanId: spanId })
})

test('a client that does not sample its trace has no spans sampled of it', async () => {
  await using collector = createCollector()
  const headers = { traceparent: `00-${traceId}-${spanId}-00` }
  expect(await tracesOf(collector, jsonReply(), { headers })).toEqual([])
})

const uuid = '0af76519-16cd-43dd-8448-eb211c80319c'
const named: readonly [name: string, trace: object, span: object][] = [
  ['ids of OpenTelemetry', { id: traceId, span_id: spanId }, { traceId, parentSpanId: spanId }],
  ['a parent alone', { id: traceId, parent_span_id: spanId }, { traceId, parentSpanId: spanId }],
  ['a UUID, and no span', { id: uuid.toUpperCase() }, { traceId }],
  ['a span that is no id', { id: traceId, span_id: 'step 1' }, { traceId }],
]

test.each([...named])(
  'the trace object sets the parent where there is no header: %s',
  async (_, trace, expected) => {
    await using collector = createCollector()
    const spans = await tracesOf(collector, jsonReply(), { body: { trace } })
    const request = spans.find(({ kind }) => kind === server)
    expect(request).toMatchObject(expected)
    if (!('parentSpanId' in expected)) expect(request?.parentSpanId).toBeUndefined()
  },
)

test('any other id names one trace, and is exported unchanged, except for the metadata beside it', async () => {
  await using collector = createCollector()
  const trace = { id: 'order 66', name: 'an order', metadata: { note: 'for nobody' } }
  await tracesOf(collector, jsonReply(), { body: { trace } })
  await tracesOf(collector, jsonReply(), { body: { trace } })
  const requests = collector.spans.filter(({ kind }) => kind === server)
  expect(requests).toHaveLength(2)
  expect(new Set(requests.map(({ traceId }) => traceId)).size).toBe(1)
  expect(requests[0]?.attributes).toMatchObject({
    'weir.trace.id': 'order 66',
    'weir.trace.name': 'an order',
  })
  expect(collector.text()).not.toContain('for nobody')
})

test.each([
  ['OTEL_TRACES_SAMPLER', 'always_off'],
  ['OTEL_SDK_DISABLED', 'true'],
  ['OTEL_TRACES_EXPORTER', 'none'],
])('%s=%s sends nothing', async (name, value) => {
  await using collector = createCollector()
  expect(await tracesOf(collector, jsonReply(), { options: { environment: { [name]: value } } })).toEqual([])
})

test('the endpoint for traces alone is used unchanged', async () => {
  await using collector = createCollector()
  const environment = {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/elsewhere`,
  }
  await tracesOf(collector, jsonReply(), { options: { environment } })
  expect(collector.requests.map(({ path }) => path)).toEqual(['/elsewhere'])
})

test.each(['localhost:4318', 'collector', 'grpc://127.0.0.1:4317'])(
  'an endpoint without http is rejected at startup: %s',
  async (address) => {
    const starting = startApp({ environment: { OTEL_EXPORTER_OTLP_ENDPOINT: address } })
    expect(await starting.catch(String)).toContain('must begin with http')
  },
)

test('the upstream request carries nothing of the trace', async () => {
  await using collector = createCollector()
  const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }
  await using scenario = await startScenario(jsonReply(), { environment })
  await scenario.app.chat(chatRequest, { headers: { traceparent: `00-${traceId}-${spanId}-01` } })
  expect(scenario.acme.requests[0]?.headers.has('traceparent')).toBe(false)
  expect(JSON.stringify(scenario.acme.requests[0]?.headers)).not.toContain(traceId)
})

test('a collector that fails loses spans, which are counted, and no request', async () => {
  await using collector = createCollector(400)
  const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }
  await using scenario = await startScenario(jsonReply(), { environment })
  const { app } = scenario
  expect((await app.chat(chatRequest)).status).toBe(200)
  const dropped = async () => {
    const text = await (await app.request('/metrics')).text()
    return Number(/^weir_trace_spans_dropped_total (\d+)$/m.exec(text)?.[1])
  }
  while ((await dropped()) === 0) await Bun.sleep(10)
  expect(await dropped()).toBe(2)
  expect(app.lines.filter((line) => line.includes('Traces could not be sent.'))).toHaveLength(1)
})
