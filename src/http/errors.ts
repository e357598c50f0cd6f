import { Elysia } from 'elysia'
import { ApiError, internalError, methodNotAllowed, routeNotFound } from '../lib/errors.ts'
import type { Admission } from '../gateway/limits/admission.ts'
import type { Caller } from './authentication.ts'
import { causeOf, type Log } from '../lib/log.ts'
import { requestPath } from './request-path.ts'
import type { Timing } from './timing.ts'

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
 * Elysia runs no error hook of a feature once this one has replied.
 */
export function errorReplies(log: Log, failed: (request: FailedRequest) => void = () => {}) {
  return new Elysia({ name: 'errors' }).onError({ as: 'global' }, function reply(context) {
    const { code, error, request, set } = context
    const path = requestPath(request)
    const known = code === 'NOT_FOUND' ? routeNotFound(request.method, path) : toApiError(error)
    const requestId = String(set.headers['x-request-id'] ?? '')
    if (known.status >= 500) report(log, known, requestId)
    // Where the timing and the guard have put them, which the types of a global hook cannot know.
    const { caller, admission, timing } = context as Found
    timing?.refused(known)
    failed({ error: known, method: request.method, path, requestId, caller, admission })
    set.status = known.status
    Object.assign(set.headers, known.headers)
    return known.toBody()
  })
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
export function otherMethods(routes: readonly { readonly method: string; readonly path: string }[]) {
  const methods = new Map<string, Set<string>>()
  for (const { method, path } of routes) {
    methods.set(path, (methods.get(path) ?? new Set()).add(method))
  }
  const plugin = new Elysia({ name: 'other-methods' })
  for (const [path, known] of methods) {
    const refuse = ({ request }: { readonly request: Request }) => {
      throw methodNotAllowed(request.method, requestPath(request), [...known].toSorted())
    }
    // Nobody was asked for a key here: a body is not read, of whatever size it is.
    plugin.all(path, refuse, { parse: 'none' })
  }
  return plugin
}
