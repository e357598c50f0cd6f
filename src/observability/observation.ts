import type { Log } from '../lib/log.ts'
import type { Figures } from './metrics/gateway-readings.ts'
import { createMetrics, type Metrics } from './metrics/metrics.ts'
import { createRequestLog, type LoggedRequests, type LogOutput } from './request-log/request-log.ts'
import { createRequests, type InFlight, type Requests } from './requests.ts'
import { type Environment, startTracing } from './traces/tracing.ts'

/** What operators see of a gateway: a line for each request, metrics and traces. */
export type Observation = {
  readonly requests: Requests
  readonly metrics: Pick<Metrics, 'render'>
  /** Sends and writes what is left, within a few seconds. */
  stop(): Promise<void>
}

export type ObservationInput = {
  readonly environment: Environment
  readonly log: Log
  /** Where the lines go; nowhere if absent. */
  readonly output?: LogOutput | undefined
  readonly logged: () => LoggedRequests
  readonly figures: Pick<Figures, 'leftAlone' | 'database' | 'memory' | 'runs'>
}

/** Milliseconds for lines that are not written yet. */
const farewell = 1000

export async function startObservation(input: ObservationInput): Promise<Observation> {
  const { environment, log, output, logged, figures } = input
  const lines = output && createRequestLog(output, logged)
  const traces = await startTracing(environment, log)
  const metrics = createMetrics({
    ...figures,
    inFlight: (): InFlight => requests.open(),
    droppedLines: () => lines?.dropped() ?? 0,
    droppedSpans: () => traces?.dropped() ?? 0,
  })
  const listeners = [lines, metrics, traces].filter((listener) => listener !== undefined)
  const requests = createRequests(listeners, log)
  return {
    requests,
    metrics,
    async stop() {
      await Promise.all([lines?.flush(farewell), traces?.stop()])
    },
  }
}
