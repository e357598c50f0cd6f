import type { RequestListener } from '../request-tracker.ts'
import { type GatewayFigures, gatewayMetrics } from './gateway-metrics.ts'
import { processMetrics } from './process-metrics.ts'
import { readScraped } from './prometheus.ts'
import { createRequestMetrics } from './request-metrics.ts'
import type { MetricSnapshot } from './snapshot.ts'

/**
 * All metrics of the gateway: those counted for each request (`request-families.ts`), those read from its state at each
 * scrape (`gateway-metrics.ts`), and those of the process (`process-metrics.ts`).
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
