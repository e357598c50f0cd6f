import { Elysia } from 'elysia'

/** What a page may read of a reply, beside what every page may. */
const exposed = [
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
].join(', ')

/** Seconds for which a browser need not ask again. */
const remembered = '600'

/** Lets pages of these origins call the gateway from a browser; `*` is any. Cookies play no part. */
export function crossOrigin(origins: readonly string[]) {
  const plugin = new Elysia({ name: 'cross-origin' })
  if (origins.length === 0) return plugin
  const allowed = new Set(origins)
  return plugin.onRequest(function answerBrowser({ request, set }) {
    set.headers.vary = 'Origin'
    const origin = request.headers.get('origin')
    if (origin === null || !(allowed.has(origin) || allowed.has('*'))) return undefined
    set.headers['access-control-allow-origin'] = origin
    set.headers['access-control-expose-headers'] = exposed
    return isPreflight(request) ? preflight(request) : undefined
  })
}

function isPreflight({ method, headers }: Request): boolean {
  return method === 'OPTIONS' && headers.has('access-control-request-method')
}

/** The key comes with the call itself, and is asked for there; SDKs send headers of many names. */
function preflight({ headers }: Request): Response {
  return new Response(null, {
    status: 204,
    headers: {
      'access-control-allow-methods': 'GET, POST, DELETE',
      'access-control-allow-headers': headers.get('access-control-request-headers') ?? '',
      'access-control-max-age': remembered,
    },
  })
}
