import { toDollars } from '../../gateway/billing/price.ts'
import { loggable } from '../../lib/text.ts'
import type { Attempt, RequestRecord } from '../request-record.ts'

/** The line of a request: one JSON object; what is not known, or does not apply, is not there. */
export function logLine(record: RequestRecord, now: Date = new Date()): string {
  const { facts, outcome, reply } = record
  return JSON.stringify({
    time: now.toISOString(),
    request: record.id,
    method: record.background ? undefined : loggable(record.method, maxMethod),
    path: record.path(),
    background: record.background || undefined,
    status: record.status(),
    error: record.error(),
    ...rejectionOf(record),
    organization: facts?.organization ?? reply?.organization,
    key: facts?.key ?? reply?.key ?? record.refusal?.error.log.key,
    requested_model: requestedModel(record),
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

/** Characters. */
const maxMethod = 20

/** What finds the mistake of a client: which rule was broken, by which program. */
function rejectionOf({ refusal }: RequestRecord) {
  if (refusal === undefined) return undefined
  const { error, client } = refusal
  return {
    reason: error.log.reason,
    param: error.param === null ? undefined : loggable(error.param),
    user_agent: client?.userAgent === undefined ? undefined : loggable(client.userAgent),
    claimed_key: error.log.key === undefined ? client?.claimedKey : undefined,
  }
}

/** As the request has it, where that is not the slug of the model. */
function requestedModel({ facts, refusal }: RequestRecord): string | undefined {
  const requested = facts?.requestedModel ?? refusal?.error.log.model
  if (requested === undefined || requested === facts?.model) return undefined
  // No name has a blank in it: what comes behind one may be what somebody wrote to a model.
  return loggable(requested.replace(/(?<=\S)\s[^]*$/, '…'))
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
