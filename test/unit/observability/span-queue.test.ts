import { expect, test } from 'bun:test'
import { type ReadableSpan, type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace'
import { createSpanQueue } from '../../../src/observability/traces/span-queue.ts'
import { createLog, silentLog } from '../../../src/lib/log.ts'

type Done = Parameters<SpanExporter['export']>[1]

/** An exporter whose sending ends when it is told to. */
function slowExporter() {
  const sending: { readonly spans: ReadableSpan[]; readonly done: Done }[] = []
  const exporter: SpanExporter = {
    export: (spans, done) => void sending.push({ spans, done }),
    shutdown: async () => {},
  }
  return { sending, exporter }
}

test('spans beyond the limit are dropped and counted, also while others are being sent', async () => {
  const { sending, exporter } = slowExporter()
  const queue = createSpanQueue(exporter, silentLog, 2)
  const tracer = new TracerProvider({ spanProcessors: [queue] }).getTracer('test')
  for (const name of ['a', 'b', 'c', 'd']) tracer.startSpan(name).end()
  expect(sending.map(({ spans }) => spans.map(({ name }) => name))).toEqual([['a', 'b']])
  expect(queue.dropped()).toBe(2)
  sending[0]?.done({ code: 0 })
  tracer.startSpan('e').end()
  expect(queue.dropped()).toBe(2)
})

test('consecutive failures to send spans are logged once', () => {
  const lines: string[] = []
  const { sending, exporter } = slowExporter()
  const queue = createSpanQueue(
    exporter,
    createLog((line) => void lines.push(line)),
    1,
  )
  const tracer = new TracerProvider({ spanProcessors: [queue] }).getTracer('test')
  for (const name of ['a', 'b']) {
    tracer.startSpan(name).end()
    sending.at(-1)?.done({ code: 1, error: new Error('refused') })
  }
  expect(lines.length).toBe(1)
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 'warn', cause: 'Error: refused' })
})
