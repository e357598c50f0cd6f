import { TraceFlags } from '@opentelemetry/api'
import {
  BatchSpanProcessor,
  type ReadableSpan,
  type SpanExporter,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace'
import { causeOf, type Log } from '../../lib/log.ts'

/** Holds spans until they are sent, and counts those that it has to let go. */
export type SpanQueue = SpanProcessor & {
  dropped(): number
  /** Tells of a failure to send, now and then. */
  failed(error: unknown): void
}

/** Spans that may wait or be under way: some seconds of thousands of requests each second. */
const mostWaiting = 16_384
/** Of a batch; all of them may be under way at once when the gateway stops. */
const batchSize = 1024
/** Milliseconds between two batches that are not full. */
const pause = 1000
/** Milliseconds for which further failures are not told. */
const silence = 60_000

/** The queue of the SDK drops in silence what is too much for it: here nothing is given to it that it would drop. */
export function createSpanQueue(exporter: SpanExporter, log: Log, most = mostWaiting): SpanQueue {
  let waiting = 0
  let dropped = 0
  const failed = failureReport(log)
  const batches = new BatchSpanProcessor({
    exporter: counted(exporter, (spans, error) => {
      waiting -= spans
      if (error === undefined) return
      dropped += spans
      failed(error)
    }),
    maxQueueSize: most,
    maxExportBatchSize: Math.min(batchSize, most),
    scheduledDelayMillis: pause,
  })

  function onEnd(span: ReadableSpan): void {
    if ((span.spanContext().traceFlags & TraceFlags.SAMPLED) === 0) return
    if (waiting >= most) return void dropped++
    waiting++
    batches.onEnd(span)
  }

  return {
    onStart() {},
    onEnd,
    forceFlush: () => batches.forceFlush(),
    shutdown: () => batches.shutdown(),
    dropped: () => dropped,
    failed,
  }
}

/** The exporter; `done` hears of how many spans it has sent, or failed to. */
function counted(exporter: SpanExporter, done: (spans: number, error: unknown) => void): SpanExporter {
  return {
    export(spans, told) {
      exporter.export(spans, (result) => {
        done(spans.length, result.error)
        told(result)
      })
    },
    shutdown: () => exporter.shutdown(),
  }
}

function failureReport(log: Log): (error: unknown) => void {
  let toldAt = Number.NEGATIVE_INFINITY
  return (error) => {
    if (performance.now() - toldAt < silence) return
    toldAt = performance.now()
    log.warn('Traces could not be sent.', { cause: causeOf(error) })
  }
}
