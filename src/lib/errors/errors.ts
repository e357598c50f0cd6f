import type { KeyRejection, ModelRejection, RejectionFacts, RouteRejection } from './rejection.ts'
import { shortText } from '../text.ts'

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
  readonly log?: RejectionFacts
}

/** An error with the status and the sentence that the caller gets. */
export class ApiError extends Error {
  readonly status: number
  readonly type: string
  readonly code: string | null
  readonly param: string | null
  readonly headers: Readonly<Record<string, string>>
  readonly log: RejectionFacts

  constructor(status: number, message: string, facts: ErrorFacts) {
    super(message, { cause: facts.cause })
    this.name = 'ApiError'
    this.status = status
    this.type = facts.type
    this.code = facts.code ?? null
    this.param = facts.param ?? null
    this.headers = facts.headers ?? {}
    this.log = facts.log ?? {}
  }

  toBody(): ErrorBody {
    return { error: { message: this.message, type: this.type, param: this.param, code: this.code } }
  }
}

const invalidRequest = 'invalid_request_error'
/** 400: the request breaks a rule; `param` is the path of the field. */
export function badRequest(
  message: string,
  code: string | null,
  param: string | null,
  log?: RejectionFacts,
): ApiError {
  return new ApiError(400, message, { type: invalidRequest, code, param, log })
}

export function invalidJson(): ApiError {
  return badRequest('The request body is not valid JSON.', null, null, { reason: 'invalid_json' })
}

export function nestedTooDeeply(levels: number): ApiError {
  return badRequest(`The request body is nested deeper than ${levels} levels.`, 'invalid_value', null)
}

/** 400: the body has more properties than `limit` beyond the first `each` of each object; `param` is where there are too many. */
export function tooManyProperties(limit: number, each: number, param: string | null): ApiError {
  const where = param === null ? 'Invalid request body' : `Invalid '${param}'`
  const message = `${where}: too many properties. At most ${limit} are allowed beyond the first ${each} of each object.`
  return badRequest(message, 'object_above_max_properties', param)
}

export function unsupportedParameter(message: string, param: string): ApiError {
  return badRequest(message, 'unsupported_parameter', param)
}

/** 401: no bearer token was sent. */
export function missingKey(): ApiError {
  const message = 'No API key was given. Send it as a header: Authorization: Bearer sk-weir-….'
  return unauthorized(message, null, { reason: 'missing_key' })
}

/** 401: the caller reads the same sentence whatever is wrong with the key; only the log says which it is. */
export function invalidKey(reason: KeyRejection, key?: string): ApiError {
  const message = 'The API key is not valid. It may be mistyped, expired or revoked.'
  return unauthorized(message, 'invalid_api_key', { reason, key })
}

function unauthorized(message: string, code: string | null, log: RejectionFacts): ApiError {
  const headers = { 'www-authenticate': 'Bearer realm="weir"' }
  return new ApiError(401, message, { type: invalidRequest, code, headers, log })
}

/** 402: nobody has said how the organization pays, or what the model costs. */
export function billingNotConfigured(message: string): ApiError {
  return new ApiError(402, message, { type: 'insufficient_quota', code: 'billing_not_configured' })
}

/** 402; waiting does not mend it, so there is no `retry-after`. */
export function insufficientBalance(message: string): ApiError {
  return new ApiError(402, message, { type: 'insufficient_quota', code: 'insufficient_balance' })
}

/** 403: `key` is the public id of the key. */
export function noOrganization(key?: string): ApiError {
  const message = 'The organization of this API key no longer exists.'
  return new ApiError(403, message, { type: invalidRequest, code: 'no_organization', log: { key } })
}

/** 403: metrics are the operator's. */
export function metricsForbidden(): ApiError {
  const message =
    'Metrics are for programs that ask for localhost on the machine of the gateway, or send its WEIR_ADMIN_KEY as the bearer.'
  return new ApiError(403, message, { type: invalidRequest, code: 'metrics_forbidden' })
}

/** 404 for a model; the message says what to do about it. `model` is the name as it was asked for. */
export function modelNotFound(message: string, reason: ModelRejection, model: string): ApiError {
  const log = { reason, model }
  return new ApiError(404, message, { type: invalidRequest, code: 'model_not_found', param: 'model', log })
}

export function completionNotFound(id: string): ApiError {
  return new ApiError(404, `Completion with id '${id}' not found.`, { type: invalidRequest })
}

/** 404 for a path; `sentence` says what was likely meant, or is empty. */
export function routeNotFound(
  method: string,
  path: string,
  { sentence, reason }: { readonly sentence: string; readonly reason: RouteRejection },
): ApiError {
  const message = `There is no ${method} ${shortText(path, maxShownPath)}.${sentence && ` ${sentence}`}`
  return new ApiError(404, message, { type: invalidRequest, log: { reason } })
}

/** Characters. */
const maxShownPath = 200

/** 501: the method is none of HTTP's. */
export function methodNotImplemented(method: string): ApiError {
  const message = `${method} is not a method of HTTP.`
  return new ApiError(501, message, { type: invalidRequest, code: 'method_not_implemented' })
}

export function methodNotAllowed(method: string, path: string, allowed: readonly string[]): ApiError {
  const headers = { allow: allowed.join(', ') }
  const message = `${shortText(path, maxShownPath)} does not take ${method}; it takes ${allowed.join(', ')}.`
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
  const log = { reason: `${type}_limit` }
  return new ApiError(429, message, { type, code: 'rate_limit_exceeded', headers, log })
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

/** Nobody reads it: the caller has left. The status is the one that proxies log for that. */
export function clientGone(): ApiError {
  return new ApiError(499, 'The client closed the connection.', { type: invalidRequest, code: 'client_gone' })
}

/** The key that a queued run was asked for with is no longer valid; the run tells it as its own end. */
export function runKeyInvalid(id: string, why: 'was revoked' | 'has expired'): ApiError {
  const message = `The API key ${id} of this run ${why} while the run was queued.`
  return new ApiError(401, message, { type: invalidRequest, code: 'invalid_api_key' })
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

/** 500: what is stored of a background run is damaged. */
export function unreadableRun(): ApiError {
  const message = 'The gateway could not read the run that it had stored. Send the request again.'
  return new ApiError(500, message, { type: 'server_error', code: 'internal_error' })
}
