import type { ApiError } from '../../lib/errors/errors.ts'
import { type Attempt, circuitOpen, type RequestRecord } from '../request-record.ts'
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
  const rejected = createCounters({
    name: 'weir_rejected_requests_total',
    help: 'Requests that were rejected with an error of the gateway, by why.',
    labels: ['method', 'path', 'error', 'reason'],
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
      if (record.refusal) rejected.at(...rejectionLabels(record, record.refusal.error)).value++
      for (const attempt of record.attempts) attempts.at(...attemptLabels(attempt)).value++
      if (record.outcome) models.add(record, record.outcome)
    },
    render: () => [requests, rejected, attempts, crowds, models].map((part) => part.render()).join(''),
  }
}

function requestLabels(record: RequestRecord): readonly string[] {
  return [methodOf(record), record.reply?.path ?? '', String(record.status())]
}

/** A path that no route has, a parameter or a model is in the log only: callers may write anything. */
function rejectionLabels(record: RequestRecord, { code, type, log }: ApiError): readonly string[] {
  return [methodOf(record), record.reply?.path ?? '', code ?? type, log.reason ?? '']
}

function methodOf({ method }: RequestRecord): string {
  return methods.has(method) ? method : 'other'
}

/** A client may send any word. */
const methods: ReadonlySet<string> = new Set(['GET', 'POST', 'DELETE', 'HEAD', 'OPTIONS', 'PUT', 'PATCH'])

function attemptLabels({ route, outcome = circuitOpen }: Attempt): readonly string[] {
  return [route.provider.name, outcome]
}
