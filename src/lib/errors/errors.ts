import type { ErrorCode } from './error-codes.ts'
import type { KeyRejection, ModelRejection, RejectionDetails, RouteRejection } from './rejection.ts'
import { shortText } from '../text.ts'
import { weights } from '../validation/json-bounds.ts'

/** The JSON body of every error response. */
export type ErrorBody = {
  readonly error: {
    readonly message: string
    readonly type: string
    readonly param: string | null
    readonly code: string | null
  }
}

type ApiErrorOptions = {
  readonly type: string
  readonly code?: ErrorCode | null
  readonly param?: string | null
  readonly headers?: Readonly<Record<string, string>>
  /** For the log; never shown to the caller. */
  readonly cause?: unknown
  readonly log?: RejectionDetails
  readonly details?: Readonly<Record<string, unknown>>
}

/** An error with the HTTP status and the message that the caller receives. */
export class ApiError extends Error {
  readonly status: number
  readonly type: string
  readonly code: ErrorCode | null
  readonly param: string | null
  readonly headers: Readonly<Record<string, string>>
  readonly log: RejectionDetails
  /** What the Messages API says beside the message, for programs. */
  readonly details: Readonly<Record<string, unknown>> | undefined

  constructor(status: number, message: string, options: ApiErrorOptions) {
    super(message, { cause: options.cause })
    this.name = 'ApiError'
    this.status = status
    this.type = options.type
    this.code = options.code ?? null
    this.param = options.param ?? null
    this.headers = options.headers ?? {}
    this.log = options.log ?? {}
    this.details = options.details
  }

  toBody(): ErrorBody {
    return { error: { message: this.message, type: this.type, param: this.param, code: this.code } }
  }
}

const invalidRequest = 'invalid_request_error'
const invalidPart = (param: string | null) => (param === null ? 'Invalid request body' : `Invalid '${param}'`)

/** 400: the request is invalid; `param` is the path of the field. */
export function badRequest(
  message: string,
  code: ErrorCode | null,
  param: string | null,
  log?: RejectionDetails,
): ApiError {
  return new ApiError(400, message, { type: invalidRequest, code, param, log })
}

/** 400: the body cannot be parsed. */
export function invalidJson(): ApiError {
  return badRequest('The request body is not valid JSON.', null, null, { reason: 'invalid_json' })
}

/** 400: arrays and objects of the body are nested deeper than `levels`. */
export function nestedTooDeeply(levels: number): ApiError {
  return badRequest(`The request body is nested deeper than ${levels} levels.`, 'invalid_value', null)
}

/** 400: the body has more than `limit` properties beyond the first `each` of each object; `param` is the path of one. */
export function tooManyProperties(limit: number, each: number, param: string | null): ApiError {
  const message = `${invalidPart(param)}: too many properties. At most ${limit} are allowed beyond the first ${each} of each object.`
  return badRequest(message, 'object_above_max_properties', param)
}

/** 400: the values of the body weigh more than `limit`; `param` is the field with which they do. */
export function tooManyValues(limit: number, param: string | null): ApiError {
  const counts = `an array or an object counts as ${weights.container}, a string or a name as ${weights.string}, all else as ${weights.value}`
  const message = `${invalidPart(param)}: the request body has too many values. At most ${limit} are allowed, where ${counts}.`
  return badRequest(message, 'invalid_value', param)
}

/** 400: the strings of the body have more escape sequences than `limit`. */
export function tooManyEscapes(limit: number): ApiError {
  return badRequest(`The request body has more than ${limit} escape sequences.`, 'invalid_value', null)
}

/** 400: the gateway or the model does not support the parameter. */
export function unsupportedParameter(message: string, param: string): ApiError {
  return badRequest(message, 'unsupported_parameter', param)
}

/** 401: no bearer token was sent. */
export function missingKey(): ApiError {
  const message =
    'No API key provided. Send it in the Authorization header: Authorization: Bearer YOUR_API_KEY'
  return unauthorized(message, null, { reason: 'missing_key' })
}

/** 401: the caller reads the same message for every reason; only the log contains the reason. */
export function invalidKey(reason: KeyRejection, key?: string): ApiError {
  const message = 'Invalid API key. It may be mistyped, expired or revoked.'
  return unauthorized(message, 'invalid_api_key', { reason, key })
}

function unauthorized(message: string, code: ErrorCode | null, log: RejectionDetails): ApiError {
  const headers = { 'www-authenticate': 'Bearer realm="weir"' }
  return new ApiError(401, message, { type: invalidRequest, code, headers, log })
}

/** 402: the billing of the organization, or the price of the model, is not configured. */
export function billingNotConfigured(message: string): ApiError {
  return new ApiError(402, message, { type: 'insufficient_quota', code: 'billing_not_configured' })
}

/** 402: the balance does not cover the request. There is no `retry-after` because waiting does not help. */
export function insufficientBalance(message: string): ApiError {
  return new ApiError(402, message, { type: 'insufficient_quota', code: 'insufficient_balance' })
}

/** 403: `key` is the public id of the key. */
export function noOrganization(key?: string): ApiError {
  const message = 'The organization of this API key no longer exists.'
  return new ApiError(403, message, { type: invalidRequest, code: 'no_organization', log: { key } })
}

/** 403: only the operator can read metrics. */
export function metricsForbidden(): ApiError {
  const message = 'Metrics are available only to local clients or with WEIR_ADMIN_KEY as the bearer token.'
  return new ApiError(403, message, { type: invalidRequest, code: 'metrics_forbidden' })
}

/** 404 for a model; the message says how to fix the request. `model` is the name that was requested. */
export function modelNotFound(message: string, reason: ModelRejection, model: string): ApiError {
  const log = { reason, model }
  return new ApiError(404, message, { type: invalidRequest, code: 'model_not_found', param: 'model', log })
}

/** 404: no completion with this id is stored. */
export function completionNotFound(id: string): ApiError {
  return new ApiError(404, `Completion with id '${id}' not found.`, { type: invalidRequest })
}

/** 404 for a path; `sentence` is a hint at the likely path, or empty. */
export function routeNotFound(
  method: string,
  path: string,
  { sentence, reason }: { readonly sentence: string; readonly reason: RouteRejection },
): ApiError {
  const message = `Unknown endpoint: ${method} ${shortText(path, maxShownPath)}.${sentence && ` ${sentence}`}`
  return new ApiError(404, message, { type: invalidRequest, log: { reason } })
}

const maxShownPath = 200

/** 501: HTTP has no such method. */
export function methodNotImplemented(method: string): ApiError {
  const message = `Unknown HTTP method: ${method}.`
  return new ApiError(501, message, { type: invalidRequest, code: 'method_not_implemented' })
}

/** 405: the path exists, but not with this method. */
export function methodNotAllowed(method: string, path: string, allowed: readonly string[]): ApiError {
  const headers = { allow: allowed.join(', ') }
  const message = `${shortText(path, maxShownPath)} does not support ${method}. Supported methods: ${allowed.join(', ')}.`
  return new ApiError(405, message, { type: invalidRequest, code: 'method_not_supported', headers })
}

/** 413: the body is larger than `limit` bytes. */
export function bodyTooLarge(limit: number): ApiError {
  const message = `The request body is larger than the maximum of ${limit} bytes (the max_body setting of the gateway).`
  return new ApiError(413, message, { type: invalidRequest, code: 'request_too_large' })
}

/** 408: the body did not arrive before the deadline. */
export function bodyTooSlow(): ApiError {
  const message = 'The request body was not received in time.'
  const headers = { connection: 'close' }
  return new ApiError(408, message, { type: invalidRequest, code: 'request_timeout', headers })
}

/** 415: the body has another content type than the route expects. */
export function unsupportedMediaType(message: string): ApiError {
  return new ApiError(415, message, { type: invalidRequest, code: 'unsupported_media_type' })
}

/** 429: after `waitMs` the same request is accepted, unless other requests arrive before it. */
export function rateLimited(type: 'requests' | 'tokens', message: string, waitMs: number): ApiError {
  const headers = {
    'retry-after': String(Math.max(1, Math.ceil(waitMs / 1000))),
    'retry-after-ms': String(waitMs),
  }
  const log = { reason: `${type}_limit` }
  return new ApiError(429, message, { type, code: 'rate_limit_exceeded', headers, log })
}

/** 500: an unexpected error; its cause is only logged. */
export function internalError(cause: unknown): ApiError {
  const message =
    'The gateway encountered an internal error. Its log has the cause under the request ID in x-request-id.'
  return new ApiError(500, message, { type: 'server_error', code: 'internal_error', cause })
}

/** 503: the gateway cannot serve the request at the moment. */
export function serviceUnavailable(message: string, cause?: unknown): ApiError {
  const options = { type: 'service_unavailable_error', code: 'service_unavailable', cause } as const
  return new ApiError(503, message, { ...options, headers: { 'retry-after': '1' } })
}

/** 503: a response that was to be stored is generated, so that a retry would cost as much again. */
export function responseNotStored(cause: unknown): ApiError {
  const message = 'The response was generated, but could not be stored. A retry would generate another one.'
  const headers = { 'x-should-retry': 'false' }
  return new ApiError(503, message, { type: 'server_error', code: 'response_not_stored', headers, cause })
}

/** 503: requests in flight have used up the memory budget. */
export function memoryExhausted(): ApiError {
  return serviceUnavailable('The memory limit for open requests is reached. Try again later.')
}

/** 499: the client closed the connection. It is only logged, with the status that proxies use for this. */
export function clientGone(): ApiError {
  return new ApiError(499, 'The client closed the connection.', { type: invalidRequest, code: 'client_gone' })
}

/** 503: the gateway is stopping; the next connection can reach another instance. */
export function gatewayStopping(): ApiError {
  const options = { type: 'service_unavailable_error', code: 'service_unavailable' } as const
  const headers = { 'retry-after': '1', connection: 'close' }
  return new ApiError(
    503,
    'The gateway is shutting down and accepts no new requests. Try again in a moment.',
    { ...options, headers },
  )
}

/** 503: the gateway stopped during the call. */
export function interrupted(cause?: unknown): ApiError {
  const message = 'The gateway stopped before the response was complete. Try again.'
  return new ApiError(503, message, { type: 'server_error', code: 'interrupted', cause })
}
