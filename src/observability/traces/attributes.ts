import type { Attributes } from '@opentelemetry/api'
import type { Api, RequestMetadata } from '../../domain/accounting/request-metadata.ts'
import { toDollars } from '../../gateway/billing/price.ts'
import { fieldsOf } from '../../lib/json/json.ts'
import { telemetryNameOf } from '../../providers/kinds/kinds.ts'
import { operationName } from '../operation-name.ts'
import type { Attempt, RequestRecord } from '../request-record.ts'

/** Returns the span attributes of a request. They never contain text of prompts or completions. */
export function requestAttributes(record: RequestRecord): Attributes {
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
export function attemptAttributes({ route, outcome, status }: Attempt, api: Api | undefined): Attributes {
  return {
    'gen_ai.operation.name': operationName(api),
    'gen_ai.provider.name': telemetryNameOf(route.provider.kind.name),
    'gen_ai.request.model': route.model,
    'weir.provider': route.provider.name,
    'weir.status': status,
    'error.type': outcome === 'ok' ? undefined : outcome,
  }
}
