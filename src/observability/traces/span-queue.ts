import { TraceFlags } from '@opentelemetry/api'
import {
  BatchSpanProcessor,
  type ReadableSpan,
  type SpanExporter,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace'
import { causeOf, type Log } from '../../lib/log.ts'

/** Queues spans until they are sent, and counts dropped ones. */
type SpanQueue = SpanProcessor & {
  dropped(): number
  /** Logs a failure to send, at most once per interval. */
  reportFailure(error: unknown): void
}

/** Spans that are queued or being sent: some seconds of thousands of requests per second. */
const maxPendingSpans = 16_384
/** Spans of a batch. All batches can be under way at once when the gateway stops. */
const maxBatchSize = 1024
/** Between two batches that are not full. */
const batchIntervalMs = 1000
/** Between two warnings about failures to send. */
const warningIntervalMs = 60_000

/** Creates a queue before that of the SDK, which drops spans silently: this one drops and counts them first. */
export function createSpanQueue(exporter: SpanExporter, log: Log, maxPending = maxPendingSpans): SpanQueue {
  let pending = 0
  let dropped = 0
  const failed = createFailureReport(log)
  const batches = new BatchSpanProcessor({
    exporter: withExportCount(exporter, (spans, error) => {
      pending -= spans
      if (error === undefined) return
      dropped += spans
      failed(error)
    }),
    maxQueueSize: maxPending,
    maxExportBatchSize: Math.min(maxBatchSize, maxPending),
    scheduledDelayMillis: batchIntervalMs,
  })

  function onEnd(span: ReadableSpan): void {
    if ((span.spanContext().traceFlags & TraceFlags.SAMPLED) === 0) return
    if (pending >= maxPending) return void dropped++
    pending++
    batches.onEnd(span)
  }

  return {
    onStart() {},
    onEnd,
    forceFlush: () => batches.forceFlush(),
    shutdown: () => batches.shutdown(),
    dropped: () => dropped,
    reportFailure: failed,
  }
}

/** Wraps the exporter to call `done` with the number of spans of each export, and its error if it failed. */
function withExportCount(
  exporter: SpanExporter,
  done: (spans: number, error: unknown) => void,
): SpanExporter {
  return {
    export(spans, resultCallback) {
      exporter.export(spans, (result) => {
        done(spans.length, result.error)
        resultCallback(result)
      })
    },
    shutdown: () => exporter.shutdown(),
  }
}

function createFailureReport(log: Log): (error: unknown) => void {
  let warnedAt = Number.NEGATIVE_INFINITY
  return (error) => {
    if (performance.now() - warnedAt < warningIntervalMs) return
    warnedAt = performance.now()
    log.warn('Traces could not be sent.', { cause: causeOf(error) })
  }
}
