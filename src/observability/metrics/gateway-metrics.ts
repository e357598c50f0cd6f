import { readdirSync } from 'node:fs'
import { version } from '../../../package.json'
import type { QueueStatus } from '../../gateway/routing/provider-queue.ts'
import type { WriterStats } from '../../storage/ports/health.ts'
import type { InFlight, RequestListener } from '../request-tracker.ts'
import { formatLabels, readScraped, type ScrapedMetric } from './prometheus.ts'
import { createRequestMetrics } from './request-metrics.ts'
import type { MetricSnapshot } from './snapshot.ts'

/**
 * All metrics of the gateway: those counted for each request (`request-metrics.ts`), and those read at each scrape, of its
 * state and of the process.
 */
export type Metrics = RequestListener & {
  /** Returns all metrics of this process. */
  snapshot(): readonly MetricSnapshot[]
}

/** Creates the metrics; `figures` are read at each scrape. */
export function createMetrics(figures: GatewayFigures): Metrics {
  const requests = createRequestMetrics()
  const scraped = [...gatewayMetrics(figures), ...processMetrics]
  return {
    started: requests.started,
    finished: requests.finished,
    snapshot: () => [...requests.snapshot(), ...readScraped(scraped)],
  }
}

/** The state of the gateway that is read at each scrape. */
export type GatewayFigures = {
  inFlight(): InFlight
  /** The routes that are skipped because their circuit breaker is open. */
  openCircuits(): readonly { readonly provider: string; readonly model: string }[]
  database(): WriterStats
  /** The gateway processes that use the database. */
  processes(): number
  /** Since the start. */
  droppedLines(): number
  /** Since the start. */
  droppedSpans(): number
  /** Bytes held by requests in flight. */
  memory(): number
  /** The providers with a limited number of slots. */
  queues(): readonly QueueStatus[]
  /** Background runs. */
  runs(): { readonly queued: number; readonly running: number }
}

/** Returns the metrics of the gateway's current state. */
export function gatewayMetrics(figures: GatewayFigures): readonly ScrapedMetric[] {
  const { inFlight, openCircuits, database, droppedLines, droppedSpans, memory, runs, processes, queues } =
    figures
  return [
    {
      name: 'weir_build_info',
      help: 'Version of the gateway, as a label. The value is always 1.',
      type: 'gauge',
      aggregation: 'max',
      labels: ['version'],
      read: () => [[formatLabels({ version }), 1]],
    },
    gaugeByKind('weir_in_flight', 'Open requests, calls to models, and streamed calls among them.', inFlight),
    gaugeByKind('weir_background_runs', 'Background runs queued or in progress.', runs),
    gauge(
      'weir_memory_in_flight_bytes',
      'Memory used by request bodies, conversations and pages of requests in flight, in bytes.',
      memory,
    ),
    {
      name: 'weir_breaker_open',
      help: '1 if the circuit breaker of a route is open, which skips the route if the model has another one.',
      type: 'gauge',
      aggregation: 'max',
      labels: ['provider', 'model'],
      read: () => openCircuits().map(({ provider, model }) => [formatLabels({ provider, model }), 1]),
    },
    ...queueMetrics(queues),
    ...databaseMetrics(database, processes),
    droppedLinesMetric(droppedLines),
    counter(
      'weir_trace_spans_dropped_total',
      'Trace spans dropped because they could not be sent in time.',
      droppedSpans,
    ),
  ]
}

function queueMetrics(queues: () => readonly QueueStatus[]): readonly ScrapedMetric[] {
  const byProvider = (name: string, help: string, value: (queue: QueueStatus) => number): ScrapedMetric => ({
    name,
    help,
    type: 'gauge',
    labels: ['provider'],
    read: () => queues().map((queue) => [formatLabels({ provider: queue.provider }), value(queue)]),
  })
  return [
    byProvider(
      'weir_provider_slots',
      'Requests that may be in progress at a provider with a limit.',
      ({ concurrency }) => concurrency,
    ),
    byProvider(
      'weir_provider_slots_in_use',
      'Requests in progress at such a provider.',
      ({ inUse }) => inUse,
    ),
    byProvider(
      'weir_provider_queue_length',
      'Requests that wait for such a provider.',
      ({ waiting }) => waiting,
    ),
  ]
}

/** Returns the metric of dropped lines of the request log. */
export function droppedLinesMetric(droppedLines: () => number): ScrapedMetric {
  return counter(
    'weir_log_lines_dropped_total',
    'Request log lines lost: the output was not read fast enough, or its disk was full.',
    droppedLines,
  )
}

function databaseMetrics(figures: () => WriterStats, processes: () => number): readonly ScrapedMetric[] {
  return [
    gauge('weir_processes', 'Gateway processes that use the database, this one included.', processes, 'max'),
    gauge(
      'weir_database_writes_waiting',
      'Database writes that are not on disk yet.',
      () => figures().waiting,
    ),
    counter('weir_database_commits_total', 'Committed database transactions.', () => figures().commits),
    counter(
      'weir_database_commit_seconds_total',
      'Time spent in committed database transactions.',
      () => figures().seconds,
    ),
    counter('weir_database_rollbacks_total', 'Database transactions rolled back.', () => figures().failed),
  ]
}

function counter(name: string, help: string, value: () => number): ScrapedMetric {
  return { name, help, type: 'counter', read: () => [['', value()]] }
}

function gauge(
  name: string,
  help: string,
  value: () => number,
  aggregation: ScrapedMetric['aggregation'] = 'sum',
): ScrapedMetric {
  return { name, help, type: 'gauge', aggregation, read: () => [['', value()]] }
}

function gaugeByKind<Kind extends string>(
  name: string,
  help: string,
  values: () => Readonly<Record<Kind, number>>,
): ScrapedMetric {
  const read = () =>
    Object.entries<number>(values()).map(([kind, value]) => [formatLabels({ kind }), value] as const)
  return { name, help, labels: ['kind'], type: 'gauge', read }
}

/** The metrics of the process, with the names that all Prometheus client libraries use. */
export const processMetrics: readonly ScrapedMetric[] = [
  counter('process_cpu_seconds_total', 'CPU time used by the process, in seconds.', cpuSeconds),
  gauge(
    'process_resident_memory_bytes',
    'Resident memory of the process, in bytes.',
    process.memoryUsage.rss,
  ),
  gauge(
    'process_start_time_seconds',
    'Start time of the process, in Unix seconds.',
    () => performance.timeOrigin / 1000,
    'min',
  ),
  { name: 'process_open_fds', help: 'Open file descriptors.', type: 'gauge', read: readOpenFiles },
]

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

/** Returns no value on systems other than Linux. */
function readOpenFiles(): readonly [string, number][] {
  try {
    return [['', readdirSync('/proc/self/fd').length]]
  } catch {
    return []
  }
}
