import { toDollars } from '../gateway/money/price.ts'
import type { Attempt, RequestRecord } from './request-record.ts'

/** The line of a request: one JSON object; what is not known, or does not apply, is not there. */
export function logLine(record: RequestRecord, now: Date = new Date()): string {
  const { facts, outcome, reply } = record
  return JSON.stringify({
    time: now.toISOString(),
    request: record.id,
    method: record.background ? undefined : record.method,
    path: reply?.path,
    background: record.background || undefined,
    status: record.status(),
    error: record.error(),
    organization: facts?.organization ?? reply?.organization,
    key: facts?.key ?? reply?.key,
    model: facts?.model,
    stream: facts?.stream,
    attempts: record.attempts.length > 0 ? record.attempts.map(toldAttempt) : undefined,
    provider: outcome?.provider,
    upstream_model: outcome?.upstreamModel,
    ...tokensOf(record),
    cost_usd: outcome?.cost === undefined ? undefined : toDollars(outcome.cost),
    gateway_ms: rounded(record.own),
    upstream_ms: facts && rounded(record.upstream.milliseconds()),
    first_token_ms: rounded(record.firstToken()),
    total_ms: rounded(record.total),
  })
}

function toldAttempt({ route, outcome, milliseconds }: Attempt) {
  return { provider: route.provider.name, model: route.model, outcome, ms: rounded(milliseconds) }
}

function tokensOf({ outcome }: RequestRecord) {
  const usage = outcome?.usage
  return {
    input_tokens: usage?.promptTokens,
    cached_tokens: usage?.cachedTokens,
    cache_write_tokens: usage?.cacheWriteTokens,
    output_tokens: usage?.completionTokens,
    reasoning_tokens: usage?.reasoningTokens,
    estimated: usage?.estimated || undefined,
  }
}

/** To microseconds. */
function rounded(milliseconds: number | undefined): number | undefined {
  return milliseconds === undefined ? undefined : Math.round(milliseconds * 1000) / 1000
}
