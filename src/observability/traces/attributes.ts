import type { Attributes } from '@opentelemetry/api'
import { toDollars } from '../../gateway/billing/price.ts'
import { fieldsOf } from '../../lib/json/json.ts'
import type { RequestMetadata } from '../../domain/accounting/request-metadata.ts'
import { providerName } from '../../providers/kinds/kinds.ts'
import type { Attempt, RequestRecord } from '../request-record.ts'

/** What the span of a request tells: never a word of its prompt or its answer. */
export function requestAttributes(record: RequestRecord): Attributes {
  const { facts, reply } = record
  return {
    'http.request.method': record.background ? undefined : record.method,
    'http.route': reply?.path,
    'http.response.status_code': reply?.status,
    'error.type': record.error(),
    'weir.request.id': record.id,
    'weir.organization.id': facts?.organization ?? reply?.organization,
    'weir.key.id': facts?.key ?? reply?.key,
    'weir.gateway_ms': record.own,
    ...(facts && callAttributes(facts, record)),
  }
}

function callAttributes(facts: RequestMetadata, record: RequestRecord): Attributes {
  const { outcome } = record
  const kind = record.kind()
  const usage = outcome?.usage
  const first = record.firstToken()
  return {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': kind && providerName(kind),
    'gen_ai.request.model': facts.model,
    'gen_ai.request.stream': facts.stream,
    'gen_ai.response.model': outcome?.upstreamModel,
    'gen_ai.response.time_to_first_chunk': first === undefined ? undefined : first / 1000,
    'gen_ai.usage.input_tokens': usage?.promptTokens,
    'gen_ai.usage.output_tokens': usage?.completionTokens,
    'gen_ai.usage.cache_read.input_tokens': usage?.cachedTokens,
    'gen_ai.usage.cache_creation.input_tokens': usage?.cacheWriteTokens,
    'weir.cost_usd': outcome?.cost === undefined ? undefined : toDollars(outcome.cost),
    ...callerAttributes(facts),
  }
}

/** What the caller says of its own trace, as it says it; but for its metadata, which may hold anything. */
function callerAttributes({ trace }: RequestMetadata): Attributes {
  const told = ['id', 'span_id', 'parent_span_id', 'name', 'source'].map((name) => {
    const value = fieldsOf(trace)[name]
    return [`weir.trace.${name}`, typeof value === 'string' ? value : undefined] as const
  })
  return Object.fromEntries(told)
}

/** What the span of an attempt tells. */
export function attemptAttributes({ route, outcome, status }: Attempt): Attributes {
  return {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': providerName(route.provider.kind.name),
    'gen_ai.request.model': route.model,
    'weir.provider': route.provider.name,
    'weir.status': status,
    'error.type': outcome === 'ok' ? undefined : outcome,
  }
}
