import { Elysia } from 'elysia'
import {
  ApiError,
  internalError,
  methodNotAllowed,
  methodNotImplemented,
  routeNotFound,
} from '../lib/errors/errors.ts'
import type { Admission } from '../gateway/rate-limits/admission.ts'
import type { Caller } from './authentication.ts'
import { causeOf, type Log } from '../lib/log.ts'
import { isHttpMethod } from './methods.ts'
import { requestPath } from './request-path.ts'
import { claimedKey } from './authentication.ts'
import { type Route, routeHint } from './route-hint.ts'
import type { RejectedClient } from '../observability/request-record.ts'
import type { Timing } from './request-telemetry.ts'

/** A request that ended with an error, and what is known of it: all of it is, once the guard has let it in. */
export type FailedRequest = {
  readonly error: ApiError
  readonly method: string
  readonly path: string
  readonly requestId: string
  readonly caller?: Caller
  readonly admission?: Admission
}

/**
 * Turns whatever is thrown into the error body of the interface; only here are errors logged. `failed` hears of each:
 * Elysia runs no error hook of a feature once this one has replied. Of the `routes` one may be suggested.
 */
export function errorReplies(
  log: Log,
  failed: (request: FailedRequest) => void = () => {},
  routes: () => readonly Route[] = () => [],
) {
  return new Elysia({ name: 'errors' }).onError({ as: 'global' }, function reply(context) {
    const { code, error, request, set } = context
    const path = requestPath(request)
    const known = code === 'NOT_FOUND' ? unserved(request.method, path, routes()) : toApiError(error)
    const requestId = String(set.headers['x-request-id'] ?? '')
    // An unknown method is the caller's mistake.
    if (known.status >= 500 && known.status !== 501) report(log, known, requestId)
    // Where the timing and the guard have put them, which the types of a global hook cannot know.
    const { caller, admission, timing } = context as Found
    timing?.refused(known, sentBy(request, path, caller))
    failed({ error: known, method: request.method, path, requestId, caller, admission })
    set.status = known.status
    Object.assign(set.headers, known.headers)
    return known.toBody()
  })
}

function unserved(method: string, path: string, routes: readonly Route[]): ApiError {
  if (!isHttpMethod(method)) return methodNotImplemented(method)
  return routeNotFound(method, path, routeHint(method, path, routes))
}

/** What the log says of the client whose request was rejected. */
function sentBy({ headers }: Request, path: string, caller: Caller | undefined): RejectedClient {
  const userAgent = headers.get('user-agent') ?? undefined
  return { path, userAgent, claimedKey: caller ? undefined : claimedKey(headers) }
}

type Found = Pick<FailedRequest, 'caller' | 'admission'> & { readonly timing?: Timing }

/** The error as the caller may see it. */
export function toApiError(error: unknown): ApiError {
  return error instanceof ApiError ? error : internalError(error)
}

/** Says in the log what the caller was told, and the cause that it was not told. */
export function report(log: Log, error: ApiError, requestId: string): void {
  const fields = { request: requestId, status: error.status, code: error.code, told: error.message }
  const cause = error.cause === undefined ? undefined : causeOf(error.cause)
  log.error('A request failed.', { ...fields, cause })
}

/**
 * Answers the methods that a known path does not have with 405. Added after all routes, because it goes by
 * their list.
 */
export function otherMethods(routes: readonly Route[]) {
  const methods = new Map<string, Set<string>>()
  for (const { method, path } of routes) {
    methods.set(path, (methods.get(path) ?? new Set()).add(method))
  }
  const plugin = new Elysia({ name: 'other-methods' })
  for (const [path, known] of methods) {
    const refuse = ({ request }: { readonly request: Request }) => {
      if (!isHttpMethod(request.method)) throw methodNotImplemented(request.method)
      throw methodNotAllowed(request.method, requestPath(request), [...known].toSorted())
    }
    // Nobody was asked for a key here: a body is not read, of whatever size it is.
    plugin.all(path, refuse, { parse: 'none' })
  }
  return plugin
}
