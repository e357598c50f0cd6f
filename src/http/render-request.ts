import type { AttemptDetails, RequestDetails } from '../domain/accounting/request-metadata.ts'
import { fieldsOf, type Json, parseJson } from '../lib/json/json.ts'
import { formatUsd } from '../lib/usd.ts'
import type { FinishedRequest } from '../storage/ports/requests.ts'

/** The ids of requests, by which lists go on. */
export const requestIdPattern = /^req_[0-9a-f]{32}$/

/** The values of the filter by status. */
export const statusFilterPattern = /^(0|[1-9]\d{0,2}|4xx|5xx|failed)$/

/** Returns a finished request as the admin API returns it, and the command line prints it with `--json`. */
export function renderRequest(request: FinishedRequest) {
  const { id, createdAt, organization, key, cost } = request
  const details = storedJson(request.details) as RequestDetails | null
  return {
    id,
    created_at: new Date(createdAt).toISOString(),
    status: request.status,
    error: request.error,
    message: details?.message ?? null,
    provider_message: details?.provider_message ?? null,
    param: details?.param ?? null,
    organization,
    organization_id: request.organizationId,
    project: request.project,
    project_name: request.projectName,
    key,
    key_name: request.keyName,
    user: request.user,
    session: request.session,
    tags: storedJson(request.tags),
    trace: storedJson(request.trace),
    api: request.api,
    model: request.model,
    provider: request.provider,
    upstream_model: request.upstreamModel,
    stream: request.stream,
    performance_mode: request.performanceMode,
    input_tokens: request.promptTokens,
    cached_tokens: request.cachedTokens,
    cache_write_tokens: request.cacheWriteTokens,
    output_tokens: request.completionTokens,
    reasoning_tokens: request.reasoningTokens,
    estimated: request.estimated,
    cost_usd: cost === null ? null : formatUsd(cost),
    latency_ms: request.latencyMs,
    first_token_ms: request.firstTokenMs,
    attempts: details?.attempts ?? plainAttempts(request),
    warnings: details?.warnings ?? [],
  }
}

/** Returns the content of a request as the admin API returns it, and the command line prints it with `--json`. */
export function renderContent(json: string | undefined) {
  const { request = null, response = null, error = null } = fieldsOf(parseJson(json ?? ''))
  return { kept: json !== undefined, request, response, error }
}

function storedJson(text: string | null): Json {
  return text === null ? null : ((parseJson(text) ?? null) as Json)
}

/** Of a request whose details are not recorded, the time of its attempt may be unknown. */
type RenderedAttempt = Omit<AttemptDetails, 'model' | 'ms'> & {
  readonly model: string | null
  readonly ms: number | null
}

/** The only attempt of a request whose details are not recorded, because it succeeded at once. */
function plainAttempts({
  provider,
  upstreamModel,
  status,
  error,
  latencyMs,
}: FinishedRequest): readonly RenderedAttempt[] {
  if (provider === null || error !== null) return []
  return [{ provider, model: upstreamModel, outcome: 'ok', status, ms: latencyMs }]
}
