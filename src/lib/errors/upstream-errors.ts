import { ApiError, badRequest } from './errors.ts'

/** 400 with the provider's message: the provider rejected the request. */
export function upstreamRejected(message: string, code: UpstreamRejection): ApiError {
  return badRequest(message, code, null)
}

/** The codes of requests that a provider rejected. */
type UpstreamRejection = 'upstream_rejected' | 'context_length_exceeded' | 'content_filter'

const noRetry = { 'x-should-retry': 'false' }

/** 502 that a retry cannot fix. */
export function upstreamBroken(code: UpstreamBreakage, message: string): ApiError {
  return new ApiError(502, message, { type: 'server_error', code, headers: noRetry })
}

/** 502: the model is enabled, but its provider has no API key. */
export function providerKeyMissing(message: string): ApiError {
  return upstreamBroken('provider_key_missing', message)
}

/** The codes of upstream failures that a retry cannot fix. */
type UpstreamBreakage =
  'provider_key_missing' | 'provider_key_rejected' | 'provider_quota_exhausted' | 'upstream_model_not_found'

/** 502 that a retry may fix. `retryAfter` is the provider's, in seconds; the caller receives at most 60. */
export function upstreamFailed(
  code: UpstreamFailure,
  message: string,
  retryAfter?: number,
  cause?: unknown,
): ApiError {
  const seconds = retryAfter === undefined ? undefined : Math.max(1, Math.ceil(Math.min(60, retryAfter)))
  const headers: Record<string, string> = seconds === undefined ? {} : { 'retry-after': String(seconds) }
  return new ApiError(502, message, { type: 'server_error', code, headers, cause })
}

/** 502 of a response that is longer than any that the gateway accepts: a retry would have its price, and would fail as well. */
export function upstreamExcessive(message: string, cause: unknown): ApiError {
  return new ApiError(502, message, {
    type: 'server_error',
    code: 'upstream_unavailable',
    headers: noRetry,
    cause,
  })
}

/** 429: all slots of the provider are in use, and the request may not wait, or has waited as long as it may. */
export function providerBusy(provider: string, estimatedMs: number): ApiError {
  const seconds = Math.min(60, Math.max(1, Math.ceil(estimatedMs / 1000)))
  const message = `The provider ${provider} is busy, and too many requests wait for it. Try again in ${seconds === 1 ? '1 second' : `${seconds} seconds`}.`
  const headers = { 'retry-after': String(seconds), 'retry-after-ms': String(seconds * 1000) }
  return new ApiError(429, message, { type: 'requests', code: 'provider_busy', headers })
}

/** The codes of upstream failures that a retry may fix. */
type UpstreamFailure = 'upstream_unavailable' | 'upstream_timeout' | 'upstream_rate_limited'
