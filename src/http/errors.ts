import { Elysia } from 'elysia'
import { ApiError, internalError, methodNotAllowed, routeNotFound } from '../lib/errors.ts'
import { causeOf, type Log } from '../lib/log.ts'

/** Turns whatever is thrown into the error body of the interface; only here are errors logged. */
export function errorReplies(log: Log) {
  return new Elysia({ name: 'errors' }).onError(
    { as: 'global' },
    function reply({ code, error, request, set }) {
      const known = code === 'NOT_FOUND' ? routeNotFound(request.method, pathOf(request)) : toApiError(error)
      const requestId = String(set.headers['x-request-id'] ?? '')
      if (known.status >= 500) report(log, known, requestId)
      set.status = known.status
      Object.assign(set.headers, known.headers)
      return known.toBody()
    },
  )
}

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
    plugin.all(path, ({ request }) => {
      throw methodNotAllowed(request.method, pathOf(request), [...known].toSorted())
    })
  }
  return plugin
}

function pathOf(request: Request): string {
  return new URL(request.url).pathname
}
