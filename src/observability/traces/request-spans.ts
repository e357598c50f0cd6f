import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api'
import { uneventful } from '../probes.ts'
import { circuitOpen, type Attempt, type RequestRecord } from '../request-record.ts'
import type { RequestListener } from '../requests.ts'
import { attemptAttributes, requestAttributes } from './attributes.ts'
import { parentOf } from './parent.ts'

/** Begins spans that have no parent in a trace of this id. */
type InTrace = <Value>(traceId: string | undefined, start: () => Value) => Value

/**
 * Makes the spans of a request when it is over: one for the request and one below it for each attempt. Until then a
 * request has no more to do for its trace than without one.
 */
export function createRequestSpans(tracer: Tracer, inTrace: InTrace): RequestListener {
  return {
    traces: true,
    over(record) {
      if (uneventful(record)) return
      const parent = parentOf(record)
      // What began when is known by a clock that only counts on; a span wants the time of the day.
      const day = Date.now() - performance.now()
      const context = parent.span ? trace.setSpanContext(ROOT_CONTEXT, parent.span) : ROOT_CONTEXT
      const startTime = day + record.startedAt
      const kind = record.background ? SpanKind.INTERNAL : SpanKind.SERVER
      const attributes = requestAttributes(record)
      const span = inTrace(parent.traceId, () =>
        tracer.startSpan(nameOf(record), { kind, startTime, attributes }, context),
      )
      const below = trace.setSpan(ROOT_CONTEXT, span)
      for (const attempt of record.attempts) addAttempt(tracer, attempt, day, below)
      end(span, record.status() >= 500 ? record.error() : undefined, startTime + record.total)
    },
  }
}

function addAttempt(tracer: Tracer, attempt: Attempt, day: number, below: Context): void {
  if (attempt.outcome === circuitOpen) return
  const startTime = day + attempt.startedAt
  const attributes: Attributes = attemptAttributes(attempt)
  const name = `chat ${attempt.route.model}`
  const span = tracer.startSpan(name, { kind: SpanKind.CLIENT, startTime, attributes }, below)
  end(span, attempt.outcome === 'ok' ? undefined : attempt.outcome, startTime + attempt.milliseconds)
}

function end(span: Span, error: string | undefined, endTime: number): void {
  if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: error })
  span.end(endTime)
}

function nameOf({ facts, method, reply }: RequestRecord): string {
  if (facts) return facts.model === undefined ? 'chat' : `chat ${facts.model}`
  return reply?.path === undefined ? method : `${method} ${reply.path}`
}
