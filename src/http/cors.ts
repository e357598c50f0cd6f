import { Elysia } from 'elysia'
import { originForbidden } from '../lib/errors/http-errors.ts'

/** The headers of a reply that a page may read, in addition to those that are safelisted. */
const exposedHeaders = [
  'request-id',
  'retry-after',
  'retry-after-ms',
  'server-timing',
  'x-ratelimit-limit-requests',
  'x-ratelimit-limit-tokens',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-remaining-tokens',
  'x-ratelimit-reset-requests',
  'x-ratelimit-reset-tokens',
  'x-request-id',
  'x-weir-cost',
  'x-weir-route',
].join(', ')

/** Seconds for which a browser caches the reply to a preflight. */
const preflightMaxAge = '600'

/** Allows pages of these origins to call the gateway from a browser; `*` allows any. Cookies are not used. */
export function cors(origins: readonly string[]) {
  const plugin = new Elysia({ name: 'cross-origin' })
  if (origins.length === 0) return plugin
  const allowed = new Set(origins)
  return plugin.onRequest(function allowOrigin({ request, set }) {
    set.headers.vary = 'Origin'
    const origin = request.headers.get('origin')
    if (origin === null || !(allowed.has(origin) || allowed.has('*'))) return undefined
    set.headers['access-control-allow-origin'] = origin
    set.headers['access-control-expose-headers'] = exposedHeaders
    return isPreflight(request) ? preflight(request) : undefined
  })
}

function isPreflight({ method, headers }: Request): boolean {
  return method === 'OPTIONS' && headers.has('access-control-request-method')
}

/** A preflight has no key: the request that follows it is authenticated. SDKs send headers of many names. */
function preflight({ headers }: Request): Response {
  return new Response(null, {
    status: 204,
    headers: {
      'access-control-allow-methods': 'GET, POST, PATCH, DELETE',
      'access-control-allow-headers': headers.get('access-control-request-headers') ?? '',
      'access-control-max-age': preflightMaxAge,
    },
  })
}

const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Whether a request changes nothing, by its method. */
export function isReading({ method }: Pick<Request, 'method'>): boolean {
  return safeMethods.has(method)
}

/** Throws 403 if a page of an origin that is neither the gateway's own nor allowed sent a request that changes something. */
export function requireOwnOrigin(request: Request, allowed: readonly string[]): void {
  const { headers } = request
  const origin = headers.get('origin')
  if (origin === null || isReading(request) || allowed.includes(origin) || allowed.includes('*')) return
  const host = URL.parse(origin)?.host
  if (host === undefined || host !== headers.get('host')?.trim().toLowerCase()) throw originForbidden()
}
