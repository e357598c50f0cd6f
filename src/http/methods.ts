import { Elysia } from 'elysia'
import { methodNotImplemented, methodNotAllowed } from '../lib/errors/http-errors.ts'
import { requestPath } from './request-path.ts'
import type { Route } from './route-hint.ts'

/** The HTTP methods in the registry of IANA. */
const registeredMethods: ReadonlySet<string> = new Set(
  (
    'ACL BASELINE-CONTROL BIND CHECKIN CHECKOUT CONNECT COPY DELETE GET HEAD LABEL LINK LOCK MERGE MKACTIVITY MKCALENDAR ' +
    'MKCOL MKREDIRECTREF MKWORKSPACE MOVE OPTIONS ORDERPATCH PATCH POST PRI PROPFIND PROPPATCH PUT QUERY REBIND REPORT ' +
    'SEARCH TRACE UNBIND UNCHECKOUT UNLINK UNLOCK UPDATE UPDATEREDIRECTREF VERSION-CONTROL'
  ).split(' '),
)

/** Whether the method is a registered one; any other is rejected with 501 on every path. */
export function isHttpMethod(method: string): boolean {
  return registeredMethods.has(method)
}

/** Rejects, with 405, the methods that a known path does not have. Added after all routes, from their list. */
export function rejectOtherMethods(routes: readonly Route[]) {
  const methodsByPath = new Map<string, Set<string>>()
  for (const { method, path } of routes) {
    methodsByPath.set(path, (methodsByPath.get(path) ?? new Set()).add(method))
  }
  const plugin = new Elysia({ name: 'other-methods' })
  for (const [path, allowed] of methodsByPath) {
    const reject = ({ request }: { readonly request: Request }) => {
      if (!isHttpMethod(request.method)) throw methodNotImplemented(request.method)
      throw methodNotAllowed(request.method, requestPath(request), [...allowed].toSorted())
    }
    // These requests are not authenticated: their bodies are not read.
    plugin.all(path, reject, { parse: 'none' })
  }
  return plugin
}
