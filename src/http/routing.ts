import { Elysia } from 'elysia'
import {
  methodNotAllowed,
  methodNotImplemented,
  routeNotFound,
  type RouteRejection,
  upgradeNotSupported,
} from '../lib/errors/http-errors.ts'
import { fieldsOf } from '../lib/json/json.ts'
import { nearMatch } from '../lib/near-match.ts'

/** A route as the application lists it: `/v1/models/*`, `/v1/responses/:id`. */
export type Route = { readonly method: string; readonly path: string }

/**
 * The path of a request as it was sent; `/` where it is empty. The URL is not parsed: its host comes from the client, and
 * may be invalid.
 */
export function requestPath({ url }: Request): string {
  const host = url.indexOf('://')
  const start = url.indexOf('/', host < 0 ? 0 : host + 3)
  if (start < 0) return '/'
  const path = url.slice(start)
  const end = path.search(/[?#]/)
  return end < 0 ? path : path.slice(0, end) || '/'
}

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
      const { method } = request
      if (!isHttpMethod(method)) throw methodNotImplemented(method)
      const requested = requestPath(request)
      // The path of another endpoint of OpenAI, not the id of a response.
      if (method === 'POST' && requested === '/v1/responses/compact')
        throw routeNotFound(method, requested, hint(compactionMessage, 'unsupported_endpoint'))
      throw methodNotAllowed(method, requested, [...allowed].toSorted())
    }
    // These requests are not authenticated: their bodies are not read.
    plugin.all(path, reject, { parse: 'none' })
  }
  return plugin
}

const noHint = { sentence: '', reason: 'unknown_path' } as const

/** Rejects a path whose parameters cannot be decoded, with 404: no resource has such an id. Routes receive strings. */
export function decodablePath() {
  return new Elysia({ name: 'decodable-path' }).onTransform(
    { as: 'scoped' },
    function rejectUndecodable({ params, request }) {
      // Elysia sets a parameter that it cannot decode to null, and leaves `params` out where there are none; its types
      // declare neither.
      const values = Object.values(fieldsOf(params))
      if (values.includes(null)) throw routeNotFound(request.method, requestPath(request), noHint)
    },
  )
}

/**
 * Replies to `HEAD /`, by which clients of Anthropic's API check that the address is reachable. No key is needed.
 * Added before the telemetry, which would wait for the end of a request that it has seen begin.
 */
export function reachability() {
  return new Elysia({ name: 'reachability' }).onRequest(function confirm({ request }) {
    return request.method === 'HEAD' && requestPath(request) === '/' ? new Response(null) : undefined
  })
}

/** Rejects the request to speak WebSocket about responses with 426; elsewhere it is ignored, as HTTP allows. */
export function rejectUpgrades() {
  return new Elysia({ name: 'upgrades' }).onRequest(function reject({ request }) {
    const isUpgrade = request.headers.get('upgrade')?.toLowerCase() === 'websocket'
    if (isUpgrade && requestPath(request).startsWith('/v1/responses')) throw upgradeNotSupported()
  })
}

/** The hint of a 404 for an unknown path, and the reason that the log has. */
type RouteHint = { readonly sentence: string; readonly reason: RouteRejection }

/** A longer path, in characters or in segments, is not a typing error. */
const maxLength = 200
const maxSegments = 12

/** Suggests the route that an unknown path likely means. The work is bounded for any path. */
export function routeHint(method: string, path: string, routes: readonly Route[]): RouteHint {
  const segments = path.length > maxLength ? [] : path.toLowerCase().split('/').filter(Boolean)
  if (segments.length > maxSegments) return hint('', 'unknown_path')
  const name = segments.find((segment) => segment !== 'v1') ?? ''
  if (isUnsupported(name, routes)) return hint(unsupportedMessage(name), 'unsupported_endpoint')
  const suggested =
    routeOfSuffix(segments, method, routes) ??
    ollamaPaths.get(segments.join('/')) ??
    similarRoute(segments, routes)
  if (suggested === undefined) return hint('', 'unknown_path')
  return hint(`Did you mean ${displayed(suggested, method, routes)}?`, 'unknown_path')
}

function hint(sentence: string, reason: RouteRejection): RouteHint {
  return { sentence, reason }
}

/** Endpoints of the OpenAI API and its likes that clients call and Weir does not have. */
const unsupportedEndpoints: ReadonlySet<string> = new Set([
  'assistants',
  'audio',
  'batches',
  'containers',
  'conversations',
  'evals',
  'files',
  'fine_tuning',
  'images',
  'messages',
  'moderations',
  'realtime',
  'rerank',
  'threads',
  'uploads',
  'vector_stores',
  'videos',
])

function isUnsupported(name: string, routes: readonly Route[]): boolean {
  return unsupportedEndpoints.has(name) && !routes.some(({ path }) => path.startsWith(`/v1/${name}`))
}

function unsupportedMessage(name: string): string {
  const remedy = name === 'conversations' ? ' Continue a response with previous_response_id instead.' : ''
  return `/v1/${name} is not supported by this gateway.${remedy}`
}

const compactionMessage =
  'Compaction is not supported by this gateway. Send a summary of the earlier input instead.'

/** Paths of Ollama's native API, and the routes that serve the same. */
const ollamaPaths: ReadonlyMap<string, string> = new Map([
  ['api/chat', '/v1/chat/completions'],
  ['api/generate', '/v1/chat/completions'],
  ['api/tags', '/v1/models'],
])

/** The route that the end of the path matches: the prefix is missing, doubled or that of another service. */
function routeOfSuffix(
  segments: readonly string[],
  method: string,
  routes: readonly Route[],
): string | undefined {
  for (let start = 0; start < segments.length; start++) {
    const suffix = segments.slice(start)
    const matching = [suffix, ['v1', ...suffix]].flatMap((candidate) =>
      routes.filter(({ path }) => matches(path, candidate)),
    )
    const route = matching.find((one) => one.method === method) ?? matching[0]
    if (route !== undefined) return route.path
  }
  return undefined
}

/** Whether the segments match the path of a route: `:id` matches one segment, `*` one or more. */
function matches(path: string, segments: readonly string[]): boolean {
  const parts = path.split('/').slice(1)
  if (parts.at(-1) === '*' ? segments.length < parts.length : segments.length !== parts.length) return false
  return parts.every((part, index) => part === '*' || part.startsWith(':') || part === segments[index])
}

function similarRoute(segments: readonly string[], routes: readonly Route[]): string | undefined {
  const fixedPaths = routes.map(({ path }) => path).filter((path) => !/[:*]/.test(path))
  const requested = `/${segments.join('/')}`
  return nearMatch(requested, fixedPaths) ?? nearMatch(`/v1${requested}`, fixedPaths)
}

/** The route as `POST /v1/chat/completions`, with the method of the request where the route has it. */
function displayed(path: string, method: string, routes: readonly Route[]): string {
  const methods = routes.filter((route) => route.path === path).map((route) => route.method)
  const shown = path.replaceAll(/:(\w+)/g, '{$1}').replace('*', '{id}')
  return `${methods.includes(method) ? method : (methods[0] ?? '')} ${shown}`.trim()
}
