import type { RequestListener } from '../request-tracker.ts'
import { type GatewayFigures, gatewayMetrics } from './gateway-metrics.ts'
import { processMetrics } from './process-metrics.ts'
import { renderScraped } from './prometheus.ts'
import { createRequestMetrics } from './request-metrics.ts'

/**
 * All metrics of the gateway: those counted for each request (`request-families.ts`), those read from its state at each
 * scrape (`gateway-metrics.ts`), and those of the process (`process-metrics.ts`).
 */
export type Metrics = RequestListener & {
  /** Returns all metrics in the text format of Prometheus. */
  render(): string
}

/** Creates the metrics; `figures` are read at each scrape. */
export function createMetrics(figures: GatewayFigures): Metrics {
  const requests = createRequestMetrics()
  const scraped = [...gatewayMetrics(figures), ...processMetrics]
  return {
    started: requests.started,
    finished: requests.finished,
    render: () => requests.render() + renderScraped(scraped),
  }
}
