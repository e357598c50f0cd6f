import type { Outcome } from '../../domain/accounting/outcome.ts'
import type { ApiError } from '../../lib/errors/errors.ts'
import { telemetryNameOf } from '../../providers/kinds/kinds.ts'
import { operationName } from '../operation-name.ts'
import { type Attempt, circuitOpen, type RequestRecord } from '../request-record.ts'
import type { RequestListener } from '../request-tracker.ts'
import { createRequestFamilies } from './request-families.ts'
import type { MetricSnapshot } from './snapshot.ts'

/** Counts requests, attempts and calls to models. */
export type RequestMetrics = RequestListener & { snapshot(): readonly MetricSnapshot[] }

/** Creates the metrics of requests, all of them empty. */
export function createRequestMetrics(): RequestMetrics {
  const families = createRequestFamilies()
  const { requests, rejected, attempts, inFlightAtStart } = families
  const inFlight = inFlightAtStart.withLabels()
  const recordCall = createCallRecorder(families)
  const all = Object.values(families)

  function countRejection(record: RequestRecord, { code, type, log }: ApiError): void {
    rejected.withLabels(methodLabel(record), pathLabel(record), code ?? type, log.reason ?? '').value++
  }

  return {
    started: (openRequests) => inFlight.observe(openRequests),
    finished(record) {
      if (!record.background)
        requests.withLabels(methodLabel(record), pathLabel(record), String(record.status())).value++
      if (record.rejection) countRejection(record, record.rejection.error)
      for (const { route, outcome = circuitOpen } of record.attempts)
        attempts.withLabels(route.provider.name, outcome).value++
      if (record.outcome) recordCall(record, record.outcome)
    },
    snapshot: () => all.map((family) => family.snapshot()),
  }
}

type Families = ReturnType<typeof createRequestFamilies>

function createCallRecorder(families: Families) {
  const { durations, firstTokens, tokenIntervals, attemptDurations, tokens, overhead, cost } = families

  function recordCall(record: RequestRecord, outcome: Outcome): void {
    const provider = telemetryNameOf(record.providerKind() ?? '')
    // An unknown model has no label value: callers can send any text.
    const model = record.metadata?.model ?? ''
    const operation = operationName(record.metadata?.api)
    durations.withLabels(operation, provider, model, outcome.error ?? '').observe(record.totalMs / 1000)
    for (const attempt of record.attempts) recordAttempt(attempt, operation)
    if (record.reply) overhead.withLabels(record.reply.path ?? '').observe(record.gatewayMs / 1000)
    if (outcome.cost !== undefined) cost.withLabels(model).value += Number(outcome.cost) / 1e9
    const { usage } = outcome
    if (usage === undefined) return
    tokens.withLabels(operation, provider, model, 'input').observe(usage.promptTokens)
    tokens.withLabels(operation, provider, model, 'output').observe(usage.completionTokens)
    const firstTokenMs = record.firstTokenMs()
    if (firstTokenMs === undefined || outcome.error !== undefined) return
    firstTokens.withLabels(operation, provider, model).observe(firstTokenMs / 1000)
    const laterTokens = usage.completionTokens - 1
    if (laterTokens <= 0) return
    const seconds = (record.totalMs - firstTokenMs) / 1000
    tokenIntervals.withLabels(operation, provider, model).observe(seconds / laterTokens)
  }

  function recordAttempt({ route, outcome, durationMs: milliseconds }: Attempt, operation: string): void {
    if (outcome === circuitOpen) return
    const error = outcome === undefined || outcome === 'ok' ? '' : outcome
    attemptDurations
      .withLabels(operation, telemetryNameOf(route.provider.kind.name), route.model, error)
      .observe(milliseconds / 1000)
  }

  return recordCall
}

/** Unmatched paths, parameters and unknown models are only in the log: callers can send any text. */
function pathLabel({ reply }: RequestRecord): string {
  return reply?.path ?? ''
}

/** A client can send any text as the method. */
function methodLabel({ method }: RequestRecord): string {
  return knownMethods.has(method) ? method : 'other'
}

const knownMethods: ReadonlySet<string> = new Set([
  'GET',
  'POST',
  'DELETE',
  'HEAD',
  'OPTIONS',
  'PUT',
  'PATCH',
])
