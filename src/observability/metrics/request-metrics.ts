import type { Outcome } from '../../domain/accounting/request-metadata.ts'
import type { ApiError } from '../../lib/errors/errors.ts'
import { nameSet } from '../../lib/text.ts'
import { telemetryNameOf } from '../../providers/kinds/kinds.ts'
import type { Attempt } from '../../gateway/observer.ts'
import { circuitOpen, operationName, type RequestRecord } from '../request-record.ts'
import type { RequestListener } from '../request-tracker.ts'
import { createCounters, createHistograms } from './prometheus.ts'
import type { MetricSnapshot } from './snapshot.ts'

/** Counts requests, attempts and calls to models. */
type RequestMetrics = RequestListener & { snapshot(): readonly MetricSnapshot[] }

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
  const { durations, firstTokens, tokenIntervals, attemptDurations, queueWaits, tokens, overhead, cost } =
    families

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

  function recordAttempt(attempt: Attempt, operation: string): void {
    const { route, outcome, durationMs: milliseconds, queuedMs } = attempt
    if (outcome === circuitOpen) return
    if (route.provider.slots) queueWaits.withLabels(route.provider.name).observe(queuedMs / 1000)
    // It was not sent.
    if (outcome === 'provider_busy') return
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

const knownMethods = nameSet('GET POST DELETE HEAD OPTIONS PUT PATCH')

/** Creates the metrics that are counted for each request and each call. Their names and labels are all here. */
export function createRequestFamilies() {
  return {
    requests: createCounters({
      name: 'weir_requests_total',
      help: 'Finished requests, by method, path and status.',
      labels: ['method', 'path', 'status'],
    }),
    rejected: createCounters({
      name: 'weir_rejected_requests_total',
      help: 'Requests rejected by the gateway, by error code and reason.',
      labels: ['method', 'path', 'error', 'reason'],
    }),
    attempts: createCounters({
      name: 'weir_attempts_total',
      help: 'Attempts to call a provider, by outcome. circuit_open is a route skipped by an open circuit breaker.',
      labels: ['provider', 'outcome'],
    }),
    inFlightAtStart: createHistograms(
      {
        name: 'weir_requests_in_flight_at_start',
        help: 'Requests in flight when a request starts, including itself.',
      },
      inFlightBounds,
    ),
    queueWaits: createHistograms(
      {
        name: 'weir_provider_queue_wait_seconds',
        help: 'Time that a request waited for a provider with a limit.',
        labels: ['provider'],
      },
      durationBounds,
    ),
    ...createModelFamilies(),
  }
}

/** Metrics of calls to models, named by the semantic conventions of OpenTelemetry where those have a name. */
function createModelFamilies() {
  return {
    durations: createHistograms(
      genAi('server_request_duration_seconds', 'Time from a request to its full response.', 'error_type'),
      durationBounds,
    ),
    firstTokens: createHistograms(
      genAi('server_time_to_first_token_seconds', 'Time from a request to the first token of its stream.'),
      firstTokenBounds,
    ),
    tokenIntervals: createHistograms(
      genAi('server_time_per_output_token_seconds', 'Time per output token of a stream after the first.'),
      tokenIntervalBounds,
    ),
    // The model label of this one is the name that the provider uses.
    attemptDurations: createHistograms(
      genAi('client_operation_duration_seconds', 'Duration of one attempt to call a provider.', 'error_type'),
      durationBounds,
    ),
    tokens: createHistograms(
      genAi('client_token_usage', 'Tokens used by a call.', 'gen_ai_token_type'),
      tokenBounds,
    ),
    overhead: createHistograms(
      {
        name: 'weir_gateway_overhead_seconds',
        help: 'Time spent in the gateway before the response began.',
        labels: ['path'],
      },
      overheadBounds,
    ),
    cost: createCounters({ name: 'weir_cost_usd_total', help: 'Cost of calls in USD.', labels: ['model'] }),
  }
}

const genAiLabels = ['gen_ai_operation_name', 'gen_ai_provider_name', 'gen_ai_request_model']

function genAi(name: string, help: string, ...labels: readonly string[]) {
  return { name: `gen_ai_${name}`, help, labels: [...genAiLabels, ...labels] }
}

// The upper bounds of the buckets. OpenTelemetry advises those of the gen_ai metrics.

/** Tokens of one call. */
const tokenBounds = [
  1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864,
]

/** Seconds of a call or an attempt. */
const durationBounds = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
]

/** Seconds until the first token. */
const firstTokenBounds = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
]

/** Seconds for each token after the first. */
const tokenIntervalBounds = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5]

/** Seconds that the gateway takes itself. */
const overheadBounds = [
  0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1,
]

/** Open requests. */
const inFlightBounds = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000]
