import { nearMatch } from '../lib/near-match.ts'
import type { RouteRejection } from '../lib/errors/rejection.ts'

/** A route as the application lists it: `/v1/models/*`, `/v1/responses/:id`. */
export type Route = { readonly method: string; readonly path: string }

/** What is said of a path that no route has. */
export type RouteHint = { readonly sentence: string; readonly reason: RouteRejection }

/** A longer path, in characters or in segments, was not mistyped. */
const maxLength = 200
const maxSegments = 12

/** The route that was likely meant by a path that there is not. The work is bounded for any path. */
export function routeHint(method: string, path: string, routes: readonly Route[]): RouteHint {
  const segments = path.length > maxLength ? [] : path.toLowerCase().split('/').filter(Boolean)
  if (segments.length > maxSegments) return hint('', 'unknown_path')
  const name = segments.find((segment) => segment !== 'v1') ?? ''
  if (isUnsupported(name, routes)) return hint(unsupportedSentence(name), 'unsupported_endpoint')
  const meant =
    servedSuffix(segments, method, routes) ?? foreign.get(segments.join('/')) ?? mistyped(segments, routes)
  return hint(meant === undefined ? '' : `Did you mean ${named(meant, method, routes)}?`, 'unknown_path')
}

function hint(sentence: string, reason: RouteRejection): RouteHint {
  return { sentence, reason }
}

/** Endpoints of APIs like this one that clients call and Weir does not have. */
const unsupported: ReadonlySet<string> = new Set([
  'assistants',
  'audio',
  'batches',
  'completions',
  'containers',
  'conversations',
  'embeddings',
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
  return unsupported.has(name) && !routes.some(({ path }) => path.startsWith(`/v1/${name}`))
}

function unsupportedSentence(name: string): string {
  const instead = name === 'completions' ? ' Use /v1/chat/completions.' : ''
  return `/v1/${name} is not supported by this gateway.${instead}`
}

/** What Ollama's own interface calls the same. */
const foreign: ReadonlyMap<string, string> = new Map([
  ['api/chat', '/v1/chat/completions'],
  ['api/generate', '/v1/chat/completions'],
  ['api/tags', '/v1/models'],
])

/** The route that the end of the path names: what stands before it is missing, doubled or another service's. */
function servedSuffix(
  segments: readonly string[],
  method: string,
  routes: readonly Route[],
): string | undefined {
  for (let start = 0; start < segments.length; start++) {
    const suffix = segments.slice(start)
    const served = [suffix, ['v1', ...suffix]].flatMap((wanted) =>
      routes.filter(({ path }) => matches(path, wanted)),
    )
    const route = served.find((one) => one.method === method) ?? served[0]
    if (route !== undefined) return route.path
  }
  return undefined
}

/** Whether the path is one of the route's: `:id` stands for a segment, `*` for one or more. */
function matches(path: string, segments: readonly string[]): boolean {
  const parts = path.split('/').slice(1)
  if (parts.at(-1) === '*' ? segments.length < parts.length : segments.length !== parts.length) return false
  return parts.every((part, index) => part === '*' || part.startsWith(':') || part === segments[index])
}

function mistyped(segments: readonly string[], routes: readonly Route[]): string | undefined {
  const fixed = routes.map(({ path }) => path).filter((path) => !/[:*]/.test(path))
  const asked = `/${segments.join('/')}`
  return nearMatch(asked, fixed) ?? nearMatch(`/v1${asked}`, fixed)
}

/** `POST /v1/chat/completions`, with the method that was used where the route has it. */
function named(path: string, method: string, routes: readonly Route[]): string {
  const methods = routes.filter((route) => route.path === path).map((route) => route.method)
  const shown = path.replaceAll(/:(\w+)/g, '{$1}').replace('*', '{id}')
  return `${methods.includes(method) ? method : (methods[0] ?? '')} ${shown}`.trim()
}
