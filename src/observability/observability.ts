import type { Log } from '../lib/log.ts'
import { createLiveRequests, type LiveRequests, type OtherLiveEvents } from './live-requests.ts'
import { createMetrics, type GatewayFigures, type Metrics } from './metrics/gateway-metrics.ts'
import { RecordBatcher } from './record-batcher.ts'
import { createRequestLog, type LoggedRequests, type LogOutput } from './request-log/request-log.ts'
import {
  createRequestTracker,
  type InFlight,
  type RequestListener,
  type RequestTracker,
} from './request-tracker.ts'
import { createRouteHealth, type RouteHealthRecorder } from './route-health.ts'
import type { Environment } from './traces/opentelemetry.ts'
import { startTracing } from './traces/tracing.ts'

/** The request log, metrics and traces of a gateway. */
export type Observability = {
  readonly requests: RequestTracker
  readonly metrics: Pick<Metrics, 'snapshot'>
  readonly live: LiveRequests
  readonly routes: Pick<RouteHealthRecorder, 'of' | 'lastSuccess'>
  /** Flushes pending log lines and spans; resolves within a few seconds. */
  stop(): Promise<void>
}

type ObservabilityInput = {
  readonly environment: Environment
  readonly log: Log
  /** The destination of request lines; no lines are written if it is absent. */
  readonly output?: LogOutput | undefined
  /** Absent if no other process shares the port. */
  readonly otherLiveEvents?: OtherLiveEvents | undefined
  /** Which requests are logged; called for each request. */
  readonly logged: () => LoggedRequests
  readonly figures: Omit<GatewayFigures, 'inFlight' | 'droppedLines' | 'droppedSpans'>
}

/** For pending log lines. */
const flushTimeoutMs = 1000

/** Starts the request log, metrics and tracing. */
export async function startObservability(input: ObservabilityInput): Promise<Observability> {
  const { environment, log, output, logged, figures } = input
  const lines = output && createRequestLog(output, logged)
  const traces = await startTracing(environment, log)
  const metrics = createMetrics({
    ...figures,
    inFlight: (): InFlight => requests.open(),
    droppedLines: () => lines?.dropped() ?? 0,
    droppedSpans: () => traces?.dropped() ?? 0,
  })
  const live = createLiveRequests(input.otherLiveEvents)
  const routes = createRouteHealth()
  const readers = [lines, metrics, traces, routes].filter((reader) => reader !== undefined)
  const records = new RecordBatcher(readers, log)
  const listener: RequestListener = {
    started: metrics.started,
    finished: (record) => records.add(record),
    wantsTraceparent: traces !== undefined,
  }
  const requests = createRequestTracker([listener, live], log)
  return {
    requests,
    live,
    metrics: { snapshot: () => records.upToDate(() => metrics.snapshot()) },
    routes: {
      of: (provider, model) => records.upToDate(() => routes.of(provider, model)),
      lastSuccess: (provider) => records.upToDate(() => routes.lastSuccess(provider)),
    },
    async stop() {
      live.close()
      records.flush()
      await Promise.all([lines?.flush(flushTimeoutMs), traces?.stop()])
    },
  }
}
