import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import { RandomIdGenerator, TracerProvider } from '@opentelemetry/sdk-trace'
import { version } from '../../../package.json'
import type { Log } from '../../lib/log.ts'
import { settleWithin } from '../../lib/time.ts'
import { createRequestSpans } from './request-spans.ts'
import { samplerOf } from './sampler.ts'
import { createSpanQueue } from './span-queue.ts'
import type { Environment, Tracing } from './tracing.ts'

/** Milliseconds for what is left to send when the gateway stops. */
const farewell = 3_000

/** Traces by the SDK of OpenTelemetry. Headers, compression and the like are read by its exporter. */
export function createTracing(url: string, environment: Environment, log: Log): Tracing {
  const queue = createSpanQueue(new OTLPTraceExporter({ url }), log)
  const ids = createIds()
  const provider = new TracerProvider({
    // The name that the operator gives in the environment wins.
    resource: resourceFromAttributes({ 'service.name': 'weir', 'service.version': version }).merge(
      detectResources({ detectors: [envDetector] }),
    ),
    sampler: samplerOf(environment),
    idGenerator: ids,
    spanProcessors: [queue],
  })
  const spans = createRequestSpans(provider.getTracer('weir', version), ids.use)
  return {
    ...spans,
    dropped: queue.dropped,
    async stop() {
      await settleWithin(provider.shutdown().catch(queue.failed), farewell)
    },
  }
}

/** Random ids, but for a trace that the caller has named. */
function createIds() {
  const random = new RandomIdGenerator()
  let named: string | undefined
  return {
    generateTraceId: () => named ?? random.generateTraceId(),
    generateSpanId: () => random.generateSpanId(),
    /** The id of every trace that begins in `start`. */
    use<Value>(traceId: string | undefined, start: () => Value): Value {
      named = traceId
      try {
        return start()
      } finally {
        named = undefined
      }
    },
  }
}
