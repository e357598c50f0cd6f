import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  RandomIdGenerator,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import { version } from '../../../package.json'
import type { Log } from '../../lib/log.ts'
import { settleWithin } from '../../lib/time.ts'
import type { RequestListener } from '../request-tracker.ts'
import { createRequestSpans } from './request-spans.ts'
import { createSpanQueue } from './span-queue.ts'

/** Sends the spans of finished requests to a trace collector. */
export type Tracing = RequestListener & {
  /** The number of spans that were dropped since the start. */
  dropped(): number
  /** Sends pending spans; resolves once they are sent, or after a few seconds. */
  stop(): Promise<void>
}

/** Environment variables, of which tracing reads those of OpenTelemetry. */
export type Environment = Readonly<Record<string, string | undefined>>

/** For sending pending spans when the gateway stops. */
const shutdownTimeoutMs = 3_000

/**
 * Creates tracing with the OpenTelemetry SDK, which sends spans to `url`. Its exporter reads headers, compression and
 * timeouts from the environment.
 */
export function createTracing(url: string, environment: Environment, log: Log): Tracing {
  const queue = createSpanQueue(new OTLPTraceExporter({ url }), log)
  const ids = createIdGenerator()
  const provider = new TracerProvider({
    // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES take precedence.
    resource: resourceFromAttributes({ 'service.name': 'weir', 'service.version': version }).merge(
      detectResources({ detectors: [envDetector] }),
    ),
    sampler: createSampler(environment),
    idGenerator: ids,
    spanProcessors: [queue],
  })
  const spans = createRequestSpans(provider.getTracer('weir', version), ids.withTraceId)
  return {
    ...spans,
    dropped: queue.dropped,
    async stop() {
      await settleWithin(provider.shutdown().catch(queue.reportFailure), shutdownTimeoutMs)
    },
  }
}

/** Generates random ids, except for traces whose id the caller has chosen. */
function createIdGenerator() {
  const random = new RandomIdGenerator()
  let callerTraceId: string | undefined
  return {
    generateTraceId: () => callerTraceId ?? random.generateTraceId(),
    generateSpanId: () => random.generateSpanId(),
    /** Uses `traceId` for every trace that begins in `start`. */
    withTraceId<Value>(traceId: string | undefined, start: () => Value): Value {
      callerTraceId = traceId
      try {
        return start()
      } finally {
        callerTraceId = undefined
      }
    },
  }
}

/** Creates the sampler that `OTEL_TRACES_SAMPLER` names; by default the decision of the caller's trace, else always on. */
function createSampler(environment: Environment): Sampler {
  const name = environment.OTEL_TRACES_SAMPLER ?? 'parentbased_always_on'
  const root = createRootSampler(name.replace(/^parentbased_/, ''), environment.OTEL_TRACES_SAMPLER_ARG)
  return name.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root
}

function createRootSampler(name: string, argument: string | undefined): Sampler {
  if (name === 'always_off') return new AlwaysOffSampler()
  if (name !== 'traceidratio') return new AlwaysOnSampler()
  const ratio = Number(argument ?? 1)
  return new TraceIdRatioBasedSampler(ratio >= 0 && ratio <= 1 ? ratio : 1)
}
