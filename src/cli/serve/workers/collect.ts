import type { LiveEvent } from '../../../observability/live-event.ts'
import { droppedLinesMetric, processMetrics } from '../../../observability/metrics/gateway-metrics.ts'
import { readScraped, type ScrapedMetric } from '../../../observability/metrics/prometheus.ts'
import { cumulative, mergeSnapshots } from '../../../observability/metrics/snapshot.ts'
import type { ProcessMetrics } from './procedures.ts'
import type { WorkerPool } from './worker-pool.ts'
import type { WorkerProcess } from './worker-process.ts'

/** Collects the metrics of all processes of a server, for the worker that answers a scrape. */
type MetricsCollector = {
  /** Returns the metrics of the other workers, those that ended, and the supervisor. */
  others(asking: WorkerProcess): Promise<readonly ProcessMetrics[]>
  /** Keeps what a worker has counted: a sum that went down would look like a restart of the server. */
  keep(ended: WorkerProcess): void
}

/** A busy worker answers between two requests; of one that does not answer in time, the last values count. */
const metricsTimeoutMs = 1000

/** The metrics that only a supervisor has. */
export function workerMetrics(figures: { workers(): number; restarts(): number }): readonly ScrapedMetric[] {
  return [
    {
      name: 'weir_workers',
      help: 'Worker processes that serve; only with several workers.',
      type: 'gauge',
      read: () => [['', figures.workers()]],
    },
    {
      name: 'weir_worker_restarts_total',
      help: 'Worker processes that ended unexpectedly and were replaced.',
      type: 'counter',
      read: () => [['', figures.restarts()]],
    },
  ]
}

/** Creates the collector; `droppedLines` is the number of request log lines that the supervisor dropped. */
export function createMetricsCollector(pool: () => WorkerPool, droppedLines: () => number): MetricsCollector {
  let ended: ProcessMetrics = []
  const own = [
    ...workerMetrics({ workers: () => pool().ready().length, restarts: () => pool().restarts() }),
    ...processMetrics,
    droppedLinesMetric(droppedLines),
  ]

  async function ask(worker: WorkerProcess): Promise<ProcessMetrics> {
    try {
      worker.lastMetrics = await worker.call('metrics', undefined, metricsTimeoutMs)
    } catch {
      return cumulative(worker.lastMetrics)
    }
    return worker.lastMetrics
  }

  return {
    async others(asking) {
      const workers = pool()
        .ready()
        .filter((worker) => worker !== asking)
      // Before the answers, so that a worker that ends meanwhile does not count twice.
      const earlier = ended
      const answers = await Promise.all(workers.map(ask))
      return [...answers, earlier, readScraped(own)]
    },
    keep({ lastMetrics }) {
      ended = mergeSnapshots([ended, cumulative(lastMetrics)])
    },
  }
}

/** A worker that does not answer within this time has no events; its reader misses those that it sends later. */
const eventsTimeoutMs = 3000

/** Returns a function that collects the live requests of all other workers for a reader of one of them. */
export function createLiveEventsCollector(
  pool: () => WorkerPool,
): (asking: WorkerProcess, reader: string) => Promise<readonly LiveEvent[]> {
  return async (asking, reader) => {
    const others = pool()
      .ready()
      .filter((worker) => worker !== asking)
    const answers = others.map((worker) =>
      worker.call('liveEvents', reader, eventsTimeoutMs).catch((): readonly LiveEvent[] => []),
    )
    return (await Promise.all(answers)).flat()
  }
}
