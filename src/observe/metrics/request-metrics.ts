import { type Attempt, leftAlone, type RequestRecord } from '../request-record.ts'
import type { RequestListener } from '../requests.ts'
import { createCounters } from './counter.ts'
import { crowdBounds } from './bounds.ts'
import { createHistograms } from './histogram.ts'
import { createModelMetrics } from './model-metrics.ts'

/** What is counted of requests: a listener of them, and the text of the metrics. */
export type RequestMetrics = RequestListener & { render(): string }

export function createRequestMetrics(): RequestMetrics {
  const requests = createCounters({
    name: 'weir_requests_total',
    help: 'Requests that are over.',
    labels: ['method', 'path', 'status'],
  })
  const attempts = createCounters({
    name: 'weir_attempts_total',
    help: 'What was tried: one for each time that a route was asked, or left alone after failures.',
    labels: ['provider', 'outcome'],
  })
  const crowds = createHistograms(
    { name: 'weir_requests_in_flight_at_start', help: 'Open requests when one begins, with it.' },
    crowdBounds,
  )
  const crowd = crowds.at()
  const models = createModelMetrics()

  return {
    begun: (open) => crowd.observe(open),
    over(record) {
      if (!record.background) requests.at(...requestLabels(record)).value++
      for (const attempt of record.attempts) attempts.at(...attemptLabels(attempt)).value++
      if (record.outcome) models.add(record, record.outcome)
    },
    render: () => [requests, attempts, crowds, models].map((part) => part.render()).join(''),
  }
}

function requestLabels(record: RequestRecord): readonly string[] {
  const method = methods.has(record.method) ? record.method : 'other'
  return [method, record.reply?.path ?? '', String(record.status())]
}

/** A client may send any word. */
const methods: ReadonlySet<string> = new Set(['GET', 'POST', 'DELETE', 'HEAD', 'OPTIONS', 'PUT', 'PATCH'])

function attemptLabels({ route, outcome = leftAlone }: Attempt): readonly string[] {
  return [route.provider.name, outcome]
}
