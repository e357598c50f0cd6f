import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api'
import { createHash } from 'node:crypto'
import type { Api, RequestMetadata } from '../../domain/accounting/request-metadata.ts'
import { toDollars } from '../../gateway/billing/price.ts'
import { fieldsOf } from '../../lib/json/json.ts'
import { telemetryNameOf } from '../../providers/kinds/kinds.ts'
import type { Attempt } from '../../gateway/observer.ts'
import { circuitOpen, isRoutineProbe, operationName, type RequestRecord } from '../request-record.ts'
import type { RequestListener } from '../request-tracker.ts'

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

/** The parent of a request's span. */
type SpanParent = {
  /** The caller's span. */
  readonly span?: SpanContext
  /** The id of the trace that the request begins, if the caller has chosen one. */
  readonly traceId?: string
}

/**
 * Reads the parent from the `traceparent` header, else from the `trace` object of the request. The ids of that object
 * can be any text: a text that is not an OpenTelemetry id is hashed to a trace id, and is ignored as a span id.
 */
function spanParent({ traceparent, metadata }: RequestRecord): SpanParent {
  const span = traceparent === undefined ? undefined : parseTraceparent(traceparent)
  if (span) return { span }
  const { id, span_id, parent_span_id } = fieldsOf(metadata?.trace)
  if (typeof id !== 'string') return {}
  const traceId = toHexId(id, 32) ?? createHash('sha256').update(id).digest('hex').slice(0, 32)
  const spanId = toHexId(span_id, 16) ?? toHexId(parent_span_id, 16)
  return spanId === undefined ? { traceId } : { span: { traceId, spanId, traceFlags: 1, isRemote: true } }
}

/** `00-<trace id>-<span id>-<flags>`, of this version or a later one. */
const traceparentPattern = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

function parseTraceparent(traceparent: string): SpanContext | undefined {
  const [, trace, span, flags = '00'] = traceparentPattern.exec(traceparent.trim()) ?? []
  const [traceId, spanId] = [toHexId(trace, 32), toHexId(span, 16)]
  if (traceId === undefined || spanId === undefined) return undefined
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true }
}

/** Returns the text as an id of that many hexadecimal digits, also from a UUID; undefined if it is not one or all zeros. */
function toHexId(text: unknown, digits: number): string | undefined {
  if (typeof text !== 'string') return undefined
  const plain = text.replaceAll('-', '').toLowerCase()
  return plain.length === digits && /^[0-9a-f]*[1-9a-f][0-9a-f]*$/.test(plain) ? plain : undefined
}

/** Returns the span attributes of a request. They never contain text of prompts or completions. */
function requestAttributes(record: RequestRecord): Attributes {
  const { metadata, reply } = record
  return {
    'http.request.method': record.background ? undefined : record.method,
    'http.route': reply?.path,
    'http.response.status_code': reply?.status,
    'error.type': record.errorCode(),
    'weir.request.id': record.id,
    'weir.organization.id': metadata?.organization ?? reply?.organization,
    'weir.key.id': metadata?.key ?? reply?.key,
    'weir.gateway_ms': record.gatewayMs,
    ...(metadata && callAttributes(metadata, record)),
  }
}

function callAttributes(metadata: RequestMetadata, record: RequestRecord): Attributes {
  const { outcome } = record
  const kind = record.providerKind()
  const usage = outcome?.usage
  const first = record.firstTokenMs()
  return {
    'gen_ai.operation.name': operationName(metadata.api),
    'gen_ai.provider.name': kind && telemetryNameOf(kind),
    'gen_ai.request.model': metadata.model,
    'gen_ai.request.stream': metadata.stream,
    'gen_ai.response.model': outcome?.upstreamModel,
    'gen_ai.response.time_to_first_chunk': first === undefined ? undefined : first / 1000,
    'gen_ai.usage.input_tokens': usage?.promptTokens,
    'gen_ai.usage.output_tokens': usage?.completionTokens,
    'gen_ai.usage.cache_read.input_tokens': usage?.cachedTokens,
    'gen_ai.usage.cache_creation.input_tokens': usage?.cacheWriteTokens,
    'weir.cost_usd': outcome?.cost === undefined ? undefined : toDollars(outcome.cost),
    ...callerAttributes(metadata),
  }
}

/** The `trace` object of the request as it was sent, without its metadata, which can contain any text. */
function callerAttributes({ trace }: RequestMetadata): Attributes {
  const entries = ['id', 'span_id', 'parent_span_id', 'name', 'source'].map((name) => {
    const value = fieldsOf(trace)[name]
    return [`weir.trace.${name}`, typeof value === 'string' ? value : undefined] as const
  })
  return Object.fromEntries(entries)
}

/** Returns the span attributes of an attempt for a request of the API. */
function attemptAttributes({ route, outcome, status }: Attempt, api: Api | undefined): Attributes {
  return {
    'gen_ai.operation.name': operationName(api),
    'gen_ai.provider.name': telemetryNameOf(route.provider.kind.name),
    'gen_ai.request.model': route.model,
    'weir.provider': route.provider.name,
    'weir.status': status,
    'error.type': outcome === 'ok' ? undefined : outcome,
  }
}
