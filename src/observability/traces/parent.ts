import type { SpanContext } from '@opentelemetry/api'
import { createHash } from 'node:crypto'
import { fieldsOf } from '../../lib/json/json.ts'
import type { RequestRecord } from '../request-record.ts'

/** The parent of a request's span. */
export type SpanParent = {
  /** The caller's span. */
  readonly span?: SpanContext
  /** The id of the trace that the request begins, if the caller has chosen one. */
  readonly traceId?: string
}

/**
 * Reads the parent from the `traceparent` header, else from the `trace` object of the request. The ids of that object
 * can be any text: a text that is not an OpenTelemetry id is hashed to a trace id, and is ignored as a span id.
 */
export function spanParent({ traceparent, metadata }: RequestRecord): SpanParent {
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
