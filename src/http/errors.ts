import { Elysia } from 'elysia'
import type { Api } from '../domain/accounting/request-metadata.ts'
import type { Gateway } from '../gateway/gateway.ts'
import type { Admission } from '../gateway/rate-limits/admission.ts'
import { ApiError, internalError } from '../lib/errors/errors.ts'
import { methodNotImplemented, routeNotFound } from '../lib/errors/http-errors.ts'
import { streamMessage } from '../lib/errors/stream-message.ts'
import { timeOf } from '../lib/id.ts'
import { causeOf, type Log } from '../lib/log.ts'
import type { RejectedClient, RequestRecord } from '../observability/request-record.ts'
import { anthropicErrorHeaders, isAnthropicRequest, toAnthropicBody } from './anthropic-error.ts'
import { type Caller, claimedKey } from './authentication.ts'
import { isHttpMethod, requestPath, type Route, routeHint } from './routing.ts'

/** A request that ended with an error; once the guard has admitted it, it has a caller and an admission. */
type FailedRequest = {
  readonly error: ApiError
  readonly method: string
  readonly path: string
  readonly requestId: string
  readonly caller?: Caller
  readonly admission?: Admission
  readonly record?: RequestRecord
}

/**
 * Renders everything that a route or plugin throws as the error body of the API that the client speaks, and logs the server errors. It calls
 * `onFailed` for each failed request, because Elysia runs no error hook of a route after this one has replied. A 404
 * may suggest one of the `routes`.
 */
export function errorHandler(
  log: Log,
  onFailed: (request: FailedRequest) => void = () => {},
  routes: () => readonly Route[] = () => [],
) {
  return new Elysia({ name: 'errors' }).onError({ as: 'global' }, function reply(context) {
    const { code, error, request, set } = context
    const path = requestPath(request)
    const apiError = code === 'NOT_FOUND' ? unknownRoute(request.method, path, routes()) : toApiError(error)
    const requestId = String(set.headers['x-request-id'] ?? '')
    // An unknown method is a mistake of the client.
    if (apiError.status >= 500 && apiError.status !== 501) logError(log, apiError, requestId)
    // The telemetry and the guard have set these; the types of a global hook do not declare them.
    const { caller, admission, record } = context as DerivedContext
    record?.rejected(apiError, rejectedClient(request, path, caller))
    onFailed({ error: apiError, method: request.method, path, requestId, caller, admission, record })
    set.status = apiError.status
    // The rest of a body in pieces may end with trailers, which Bun would answer with a second reply.
    if (request.headers.has('transfer-encoding')) set.headers.connection = 'close'
    const isAnthropic = isAnthropicRequest(request)
    Object.assign(set.headers, isAnthropic ? anthropicErrorHeaders(apiError) : apiError.headers)
    return isAnthropic ? toAnthropicBody(apiError, requestId) : apiError.toBody()
  })
}

function unknownRoute(method: string, path: string, routes: readonly Route[]): ApiError {
  if (!isHttpMethod(method)) return methodNotImplemented(method)
  return routeNotFound(method, path, routeHint(method, path, routes))
}

/** The log line of a rejected request identifies its client. */
function rejectedClient({ headers }: Request, path: string, caller: Caller | undefined): RejectedClient {
  const userAgent = headers.get('user-agent') ?? undefined
  return { path, userAgent, claimedKey: caller ? undefined : claimedKey(headers) }
}

type DerivedContext = Pick<FailedRequest, 'caller' | 'admission' | 'record'>

/** The error as the client may see it: a 500 with a fixed message for an unexpected one. */
export function toApiError(error: unknown): ApiError {
  return error instanceof ApiError ? error : internalError(error)
}

/**
 * The error of a stream whose status is sent already, as the client may see it; a server error is logged. A client that
 * left is not a failure of the gateway.
 */
export function streamError(error: unknown, log: Log, requestId: string): ApiError {
  const apiError = toApiError(error)
  if (apiError.status >= 500) logError(log, apiError, requestId)
  // Not for an error that no client is to repeat: each repetition would have its price, and would fail as well.
  if (apiError.headers['x-should-retry'] === 'false') return apiError
  return new ApiError(apiError.status, streamMessage(apiError.message, apiError.code), apiError)
}

/** Logs the error, with its cause, which the client does not see. */
export function logError(log: Log, error: ApiError, requestId: string): void {
  const fields = { request: requestId, status: error.status, code: error.code, client_message: error.message }
  const cause = error.cause === undefined ? undefined : causeOf(error.cause)
  log.error('A request failed.', { ...fields, cause })
}

/** The paths of `POST` requests that generate, and the API of each. */
export type GenerationPaths = ReadonlyMap<string, Api>

/**
 * Records an admitted request that was rejected for its body, before it reached its service. A request that reached it is
 * recorded there, with its cost; an existing record is never overwritten.
 */
export function recordRejected(gateway: Gateway, paths: GenerationPaths, failed: FailedRequest): void {
  const { caller, admission, method, path, requestId: id, error } = failed
  // For Elysia, a path with a trailing slash is the same.
  const api = method === 'POST' ? paths.get(path.replace(/\/$/, '')) : undefined
  if (api === undefined || caller === undefined || admission === undefined || admission.isRecorded()) return
  const { organization, keyId: key } = caller
  const project = caller.project?.id
  const metadata = {
    id,
    organization: organization.id,
    key,
    project,
    createdAt: timeOf(id),
    api,
    stream: false,
  }
  void gateway.recordRejected(metadata, error, failed.record)
}
