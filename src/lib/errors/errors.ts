import { weights } from '../validation/json-bounds.ts'
import type { ErrorCode } from './error-codes.ts'

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
  /** `invalid_request_error` by default. */
  readonly type?: string
  readonly code?: ErrorCode | null
  readonly param?: string | null
  readonly headers?: Readonly<Record<string, string>>
  /** For the log; never shown to the caller. */
  readonly cause?: unknown
  readonly log?: RejectionDetails
  readonly details?: Readonly<Record<string, unknown>>
}

/** Details of a rejected request for the log; never shown to the caller. */
export type RejectionDetails = {
  /** The case within the error code: one of a fixed set. */
  readonly reason?: string
  /** The model name in the request. */
  readonly model?: string | undefined
  /** The public id of the key, if its secret is valid. */
  readonly key?: string | undefined
}

/** Why no model has the requested name. */
type ModelRejection = 'unknown_model' | 'ambiguous_model' | 'disabled_model' | 'unsupported_api'

/** An error with the HTTP status and the message that the caller receives. */
export class ApiError extends Error {
  readonly status: number
  readonly type: string
  readonly code: ErrorCode | null
  param: string | null
  readonly headers: Readonly<Record<string, string>>
  readonly log: RejectionDetails
  /** Further details of the error in the Messages API, for programs. */
  readonly details: Readonly<Record<string, unknown>> | undefined
  /** The message of the provider, without anything of the request; only the operator sees it. */
  providerMessage: string | undefined

  constructor(status: number, message: string, options: ApiErrorOptions = {}) {
    super(message, { cause: options.cause })
    this.name = 'ApiError'
    this.status = status
    this.type = options.type ?? 'invalid_request_error'
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

/** 400: the request is invalid; `param` is the path of the field. */
export function badRequest(
  message: string,
  code: ErrorCode | null,
  param: string | null,
  log?: RejectionDetails,
): ApiError {
  return new ApiError(400, message, { code, param, log })
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

function invalidPart(param: string | null): string {
  return param === null ? 'Invalid request body' : `Invalid '${param}'`
}

/** 400: the strings of the body have more escape sequences than `limit`. */
export function tooManyEscapes(limit: number): ApiError {
  return badRequest(`The request body has more than ${limit} escape sequences.`, 'invalid_value', null)
}

/** 400: the gateway or the model does not support the parameter. */
export function unsupportedParameter(message: string, param: string): ApiError {
  return badRequest(message, 'unsupported_parameter', param)
}

/** 400: the Messages API has no threads here; clients recognize the details and send the whole conversation instead. */
export function threadsUnsupported(): ApiError {
  const message = 'Threads are not supported by this gateway. Send the whole conversation without `thread`.'
  const details = { error_code: 'thread_unsupported_request', unsupported: ['thread'] }
  return new ApiError(400, message, { code: 'unsupported_parameter', param: 'thread', details })
}

/** 400: the model serves other APIs; `instead` is the path of one of them. */
export function apiNotSupported(slug: string, path: string, instead: string | undefined): ApiError {
  return badRequest(messageFor(slug, path, instead), 'unsupported_value', 'model')
}

/** 404: the model does not serve completions. OpenAI replies with this status, and clients expect it. */
export function completionsNotSupported(slug: string, path: string, instead: string | undefined): ApiError {
  return modelNotFound(messageFor(slug, path, instead), 'unsupported_api', slug)
}

function messageFor(slug: string, path: string, instead: string | undefined): string {
  const hint = instead === undefined ? '' : ` Use ${instead} instead.`
  return `The model ${slug} does not support ${path}.${hint}`
}

/** 400: no provider of the model accepts token ids; `param` is the field that has them. */
export function tokenIdsNotSupported(slug: string, param: string): ApiError {
  const message = `Invalid '${param}': ${slug} accepts text, but no lists of token ids.`
  return badRequest(message, 'unsupported_value', param)
}

/** 404 for a model; the message says how to fix the request. `model` is the name that was requested. */
export function modelNotFound(message: string, reason: ModelRejection, model: string): ApiError {
  const log = { reason, model }
  return new ApiError(404, message, { code: 'model_not_found', param: 'model', log })
}

/** 404: no completion with this id is stored. */
export function completionNotFound(id: string): ApiError {
  return new ApiError(404, `Completion with id '${id}' not found.`)
}

/** 402: the billing of the organization, or the price of the model, is not configured. */
export function billingNotConfigured(message: string): ApiError {
  return new ApiError(402, message, { type: 'insufficient_quota', code: 'billing_not_configured' })
}

/** 402: the balance does not cover the request. There is no `retry-after` because waiting does not help. */
export function insufficientBalance(message: string): ApiError {
  return new ApiError(402, message, { type: 'insufficient_quota', code: 'insufficient_balance' })
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

/** 503: requests in flight have used up the memory budget. */
export function memoryExhausted(): ApiError {
  return serviceUnavailable('The memory limit for open requests is reached. Try again later.')
}

/** 503: the process may open no further connection, which is no fault of a provider. */
export function tooManyOpenFiles(cause: unknown): ApiError {
  return serviceUnavailable('The gateway has too many open files. Try again later.', cause)
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
export function interrupted(): ApiError {
  const message = 'The gateway stopped before the response was complete. Try again.'
  return new ApiError(503, message, { type: 'server_error', code: 'interrupted' })
}

/** 503: a response that was to be stored is generated, so that a retry would cost as much again. */
export function responseNotStored(cause: unknown): ApiError {
  const message = 'The response was generated, but could not be stored. A retry would generate another one.'
  const headers = { 'x-should-retry': 'false' }
  return new ApiError(503, message, { type: 'server_error', code: 'response_not_stored', headers, cause })
}

/** 499: the client closed the connection. It is only logged, with the status that proxies use for this. */
export function clientGone(): ApiError {
  return new ApiError(499, 'The client closed the connection.', { code: 'client_gone' })
}

/** 499: the client keeps its connection, and has read nothing for `stallTimeoutMs`. Its stream can still end with this. */
export function clientStalled(): ApiError {
  return new ApiError(499, 'The client has read nothing for a minute.', { code: 'client_gone' })
}

/** 499: the organization cancelled the run; the run ends with this error. */
export function runCancelled(): ApiError {
  return new ApiError(499, 'The background run was cancelled.', {
    code: 'cancelled',
  })
}

/** 401: the key of a queued run is no longer valid; the run ends with this error. */
export function runKeyInvalid(id: string, change: 'was revoked' | 'has expired'): ApiError {
  const message = `The API key ${id} ${change} while this background run was queued.`
  return new ApiError(401, message, { code: 'invalid_api_key' })
}

/** 500: the stored state of a background run is damaged. */
export function unreadableRun(): ApiError {
  const message = 'The stored state of this background run cannot be read. Send the request again.'
  return new ApiError(500, message, { type: 'server_error', code: 'internal_error' })
}
