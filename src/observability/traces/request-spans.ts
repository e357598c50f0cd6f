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
import type { Api } from '../../domain/accounting/request-metadata.ts'
import { operationName } from '../operation-name.ts'
import { type Attempt, circuitOpen, type RequestRecord, isRoutineProbe } from '../request-record.ts'
import type { RequestListener } from '../request-tracker.ts'
import { attemptAttributes, requestAttributes } from './attributes.ts'
import { spanParent } from './parent.ts'

/** Runs `start`; spans without a parent that begin in it belong to the trace of this id. */
type WithTraceId = <Value>(traceId: string | undefined, start: () => Value) => Value

/**
 * Creates the spans of a request once it has finished: one for the request and a child for each attempt. An open request
 * does no work for tracing.
 */
export function createRequestSpans(tracer: Tracer, withTraceId: WithTraceId): RequestListener {
  return {
    wantsTraceparent: true,
    finished(record) {
      if (isRoutineProbe(record)) return
      const parent = spanParent(record)
      // Records use the monotonic clock, spans use the time since the epoch.
      const epochOffset = Date.now() - performance.now()
      const context = parent.span ? trace.setSpanContext(ROOT_CONTEXT, parent.span) : ROOT_CONTEXT
      const startTime = epochOffset + record.startedAt
      const kind = record.background ? SpanKind.INTERNAL : SpanKind.SERVER
      const attributes = requestAttributes(record)
      const span = withTraceId(parent.traceId, () =>
        tracer.startSpan(spanName(record), { kind, startTime, attributes }, context),
      )
      const requestContext = trace.setSpan(ROOT_CONTEXT, span)
      const api = record.metadata?.api
      for (const attempt of record.attempts) addAttempt(tracer, { attempt, api }, epochOffset, requestContext)
      endSpan(span, record.status() >= 500 ? record.errorCode() : undefined, startTime + record.totalMs)
    },
  }
}

type AttemptOfApi = { readonly attempt: Attempt; readonly api: Api | undefined }

function addAttempt(
  tracer: Tracer,
  { attempt, api }: AttemptOfApi,
  epochOffset: number,
  parent: Context,
): void {
  if (attempt.outcome === circuitOpen) return
  const startTime = epochOffset + attempt.startedAt
  const attributes: Attributes = attemptAttributes(attempt, api)
  const name = `${operationName(api)} ${attempt.route.model}`
  const span = tracer.startSpan(name, { kind: SpanKind.CLIENT, startTime, attributes }, parent)
  endSpan(span, attempt.outcome === 'ok' ? undefined : attempt.outcome, startTime + attempt.durationMs)
}

function endSpan(span: Span, error: string | undefined, endTime: number): void {
  if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: error })
  span.end(endTime)
}

function spanName({ metadata, method, reply }: RequestRecord): string {
  if (metadata) {
    const operation = operationName(metadata.api)
    return metadata.model === undefined ? operation : `${operation} ${metadata.model}`
  }
  return reply?.path === undefined ? method : `${method} ${reply.path}`
}
