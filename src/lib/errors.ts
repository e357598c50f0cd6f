/** What a caller reads in the body of every error. */
export type ErrorBody = {
  readonly error: {
    readonly message: string
    readonly type: string
    readonly param: string | null
    readonly code: string | null
  }
}

type ErrorFacts = {
  readonly type: string
  readonly code?: string | null
  readonly param?: string | null
  readonly headers?: Readonly<Record<string, string>>
  /** For the log; never shown to the caller. */
  readonly cause?: unknown
}

/** An error with the status and the sentence that the caller gets. */
export class ApiError extends Error {
  readonly status: number
  readonly type: string
  readonly code: string | null
  readonly param: string | null
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, message: string, facts: ErrorFacts) {
    super(message, { cause: facts.cause })
    this.name = 'ApiError'
    this.status = status
    this.type = facts.type
    this.code = facts.code ?? null
    this.param = facts.param ?? null
    this.headers = facts.headers ?? {}
  }

  toBody(): ErrorBody {
    return { error: { message: this.message, type: this.type, param: this.param, code: this.code } }
  }
}

const invalidRequest = 'invalid_request_error'
const noRetry = { 'x-should-retry': 'false' }

/** 400: the request breaks a rule; `param` is the path of the field. */
export function badRequest(message: string, code: string | null, param: string | null): ApiError {
  return new ApiError(400, message, { type: invalidRequest, code, param })
}

export function invalidJson(): ApiError {
  return badRequest('The request body is not valid JSON.', null, null)
}

export function nestedTooDeeply(levels: number): ApiError {
  return badRequest(`The request body is nested deeper than ${levels} levels.`, 'invalid_value', null)
}

export function unsupportedParameter(message: string, param: string): ApiError {
  return badRequest(message, 'unsupported_parameter', param)
}

export function missingKey(): ApiError {
  return unauthorized('No API key was given. Send it as a header: Authorization: Bearer sk-weir-….', null)
}

export function invalidKey(): ApiError {
  return unauthorized('The API key is not valid. It may be mistyped, expired or revoked.', 'invalid_api_key')
}

function unauthorized(message: string, code: string | null): ApiError {
  const headers = { 'www-authenticate': 'Bearer realm="weir"' }
  return new ApiError(401, message, { type: invalidRequest, code, headers })
}

/** 402: nobody has said how the organization pays, or what the model costs. */
export function billingNotConfigured(message: string): ApiError {
  return new ApiError(402, message, { type: 'insufficient_quota', code: 'billing_not_configured' })
}

/** 402; waiting does not mend it, so there is no `retry-after`. */
export function insufficientBalance(message: string): ApiError {
  return new ApiError(402, message, { type: 'insufficient_quota', code: 'insufficient_balance' })
}

export function noOrganization(): ApiError {
  const message = 'The organization of this API key no longer exists.'
  return new ApiError(403, message, { type: invalidRequest, code: 'no_organization' })
}

/** 403: metrics are the operator's. */
export function metricsForbidden(): ApiError {
  const message =
    'Metrics are for programs on the machine of the gateway, or with its WEIR_ADMIN_KEY as the bearer.'
  return new ApiError(403, message, { type: invalidRequest, code: 'metrics_forbidden' })
}

/** 404 for a model; the message says what to do about it. */
export function modelNotFound(message: string): ApiError {
  return new ApiError(404, message, { type: invalidRequest, code: 'model_not_found', param: 'model' })
}

export function completionNotFound(id: string): ApiError {
  return new ApiError(404, `Completion with id '${id}' not found.`, { type: invalidRequest })
}

export function routeNotFound(method: string, path: string): ApiError {
  return new ApiError(404, `There is no ${method} ${path}.`, { type: invalidRequest })
}

export function methodNotAllowed(method: string, path: string, allowed: readonly string[]): ApiError {
  const headers = { allow: allowed.join(', ') }
  const message = `${path} does not take ${method}; it takes ${allowed.join(', ')}.`
  return new ApiError(405, message, { type: invalidRequest, code: 'method_not_supported', headers })
}

export function bodyTooLarge(limit: number): ApiError {
  const message = `The request body is larger than ${limit} bytes, the max_body of this gateway.`
  return new ApiError(413, message, { type: invalidRequest, code: 'request_too_large' })
}

/** 408: the body was promised and did not come. */
export function bodyTooSlow(): ApiError {
  const message = 'The request body did not come in time.'
  const headers = { connection: 'close' }
  return new ApiError(408, message, { type: invalidRequest, code: 'request_timeout', headers })
}

export function unsupportedMediaType(message: string): ApiError {
  return new ApiError(415, message, { type: invalidRequest, code: 'unsupported_media_type' })
}

/** 429: `wait` in milliseconds until the same request will pass, if no other comes before it. */
export function rateLimited(type: 'requests' | 'tokens', message: string, wait: number): ApiError {
  const headers = {
    'retry-after': String(Math.max(1, Math.ceil(wait / 1000))),
    'retry-after-ms': String(wait),
  }
  return new ApiError(429, message, { type, code: 'rate_limit_exceeded', headers })
}

export function internalError(cause: unknown): ApiError {
  const message = 'Something went wrong inside the gateway. The request id finds the cause in its log.'
  return new ApiError(500, message, { type: 'server_error', code: 'internal_error', cause })
}

/** 503: a part that the answer needs is gone. */
export function serviceUnavailable(message: string, cause?: unknown): ApiError {
  const facts = { type: 'service_unavailable_error', code: 'service_unavailable', cause }
  return new ApiError(503, message, { ...facts, headers: { 'retry-after': '1' } })
}

/** 503: the requests in flight hold as many bytes as they may. */
export function memoryExhausted(): ApiError {
  return serviceUnavailable('The gateway holds too many bytes of requests at the moment. Try again later.')
}

/** 400 in the provider's words: the provider refused what the caller sent. */
export function upstreamRejected(message: string, code: UpstreamRejection): ApiError {
  return badRequest(message, code, null)
}

export type UpstreamRejection = 'upstream_rejected' | 'context_length_exceeded' | 'content_filter'

/** 502 that a repetition cannot mend. */
export function upstreamBroken(code: UpstreamBreakage, message: string): ApiError {
  return new ApiError(502, message, { type: 'server_error', code, headers: noRetry })
}

export type UpstreamBreakage =
  'provider_key_missing' | 'provider_key_rejected' | 'provider_quota_exhausted' | 'upstream_model_not_found'

/** 502: the model is on, but nobody has given its provider a key. */
export function providerKeyMissing(message: string): ApiError {
  return upstreamBroken('provider_key_missing', message)
}

/** Nobody reads it: the caller has left. The status is the one that proxies log for that. */
export function clientGone(): ApiError {
  return new ApiError(499, 'The client closed the connection.', { type: invalidRequest, code: 'client_gone' })
}

/** The run was cancelled by its organization, which reads this nowhere: the run tells it as its own end. */
export function runCancelled(): ApiError {
  return new ApiError(499, 'The run was cancelled.', { type: invalidRequest, code: 'cancelled' })
}

/** 503: the gateway takes no new calls any more; the next connection may reach another one. */
export function gatewayStopping(): ApiError {
  const facts = { type: 'service_unavailable_error', code: 'service_unavailable' }
  const headers = { 'retry-after': '1', connection: 'close' }
  return new ApiError(503, 'The gateway is stopping and takes no new requests.', { ...facts, headers })
}

/** The gateway stopped in the middle of the call. */
export function interrupted(cause?: unknown): ApiError {
  const message = 'The gateway stopped before the answer was whole. Ask again.'
  return new ApiError(503, message, { type: 'server_error', code: 'interrupted', cause })
}

/** 502 that may pass. `retryAfter` in seconds, as the provider gave it; at most 60 are handed on. */
export function upstreamFailed(code: UpstreamFailure, message: string, retryAfter?: number): ApiError {
  const seconds = retryAfter === undefined ? undefined : Math.max(1, Math.ceil(Math.min(60, retryAfter)))
  const headers: Record<string, string> = seconds === undefined ? {} : { 'retry-after': String(seconds) }
  return new ApiError(502, message, { type: 'server_error', code, headers })
}

export type UpstreamFailure = 'upstream_unavailable' | 'upstream_timeout' | 'upstream_rate_limited'
