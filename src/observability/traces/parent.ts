import { createHash } from 'node:crypto'
import type { SpanContext } from '@opentelemetry/api'
import { fieldsOf } from '../../lib/json/json.ts'
import type { RequestRecord } from '../request-record.ts'

/** Where the span of a request belongs. */
export type Parent = {
  /** The span of the caller that it is below. */
  readonly span?: SpanContext
  /** The trace that it begins, where the caller has named one. */
  readonly traceId?: string
}

/**
 * The parent is in the header `traceparent`, else in the `trace` object of the request. Its ids may be any text: what is
 * no id of OpenTelemetry names the same trace each time, but no span.
 */
export function parentOf({ traceparent, facts }: RequestRecord): Parent {
  const span = traceparent === undefined ? undefined : parsed(traceparent)
  if (span) return { span }
  const { id, span_id, parent_span_id } = fieldsOf(facts?.trace)
  if (typeof id !== 'string') return {}
  const traceId = idOf(id, 32) ?? createHash('sha256').update(id).digest('hex').slice(0, 32)
  const spanId = idOf(span_id, 16) ?? idOf(parent_span_id, 16)
  return spanId === undefined ? { traceId } : { span: { traceId, spanId, traceFlags: 1, isRemote: true } }
}

/** `00-trace id-span id-flags`, of this version or a later one. */
const format = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

function parsed(traceparent: string): SpanContext | undefined {
  const [, trace, span, flags = '00'] = format.exec(traceparent.trim()) ?? []
  const [traceId, spanId] = [idOf(trace, 32), idOf(span, 16)]
  if (traceId === undefined || spanId === undefined) return undefined
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true }
}

/** The text as an id of so many hexadecimal digits; a UUID is one, too. Nothing but zeros is none. */
function idOf(text: unknown, digits: number): string | undefined {
  if (typeof text !== 'string') return undefined
  const plain = text.replaceAll('-', '').toLowerCase()
  return plain.length === digits && /^[0-9a-f]*[1-9a-f][0-9a-f]*$/.test(plain) ? plain : undefined
}
