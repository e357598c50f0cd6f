import {
  type GatewayFigures,
  gatewayMetrics,
  processMetrics,
} from '../../observability/metrics/gateway-metrics.ts'
import { workerMetrics } from '../../cli/serve/workers/gather-metrics.ts'
import type { DescribedMetric } from '../../observability/metrics/prometheus.ts'
import { createRequestFamilies } from '../../observability/metrics/request-metrics.ts'
import { code, codeList, markdownTable } from './markdown.ts'
import type { Page } from './page.ts'

/** The reference of metrics. */
export const metricsPage: Page = {
  path: 'docs/metrics.md',
  regions: () => ({
    'request-metrics': metricTable(Object.values(createRequestFamilies())),
    'gateway-metrics': metricTable(gatewayMetrics(noFigures)),
    'worker-metrics': metricTable(workerMetrics({ workers: () => 0, restarts: () => 0 })),
    'process-metrics': metricTable(processMetrics),
  }),
}

function metricTable(metrics: readonly DescribedMetric[]): string {
  return markdownTable(metrics, [
    { title: 'Metric', cell: ({ name }) => code(name) },
    { title: 'Type', cell: ({ type }) => type },
    { title: 'Labels', cell: ({ labels = [] }) => codeList(labels) },
    { title: 'Meaning', cell: ({ help }) => help },
  ])
}

/** Only the descriptions of the metrics are read here. */
const noFigures: GatewayFigures = {
  inFlight: () => ({ requests: 0, calls: 0, streams: 0 }),
  openCircuits: () => [],
  database: () => ({ waiting: 0, commits: 0, seconds: 0, failed: 0 }),
  droppedLines: () => 0,
  droppedSpans: () => 0,
  memory: () => 0,
  runs: () => ({ queued: 0, running: 0 }),
  processes: () => 1,
}
