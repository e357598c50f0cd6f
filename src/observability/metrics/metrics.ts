import type { RequestListener } from '../requests.ts'
import { type Figures, gatewayReadings } from './gateway-readings.ts'
import { processReadings } from './process-readings.ts'
import { renderReadings } from './reading.ts'
import { createRequestMetrics } from './request-metrics.ts'

/** What is counted since the start, and the figures of the moment. */
export type Metrics = RequestListener & {
  /** All of it, in the text format of Prometheus. */
  render(): string
}

export function createMetrics(figures: Figures): Metrics {
  const requests = createRequestMetrics()
  const readings = [...gatewayReadings(figures), ...processReadings]
  return {
    begun: requests.begun,
    over: requests.over,
    render: () => requests.render() + renderReadings(readings),
  }
}
