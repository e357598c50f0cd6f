import type { ModelRoute } from '../gateway/models/model.ts'
import type { Attempt } from '../gateway/observer.ts'
import { circuitOpen, type RequestRecord } from './request-record.ts'
import type { RequestListener } from './request-tracker.ts'

/** The results of the requests to one route since the start. Times are milliseconds since 1970. */
export type RouteHealth = {
  readonly requests: number
  readonly failures: number
  /** Null if none has succeeded. */
  readonly lastSuccessAt: number | null
  readonly lastError: RouteError | null
}

/** The last failed request: its status and code only, because the message of a provider may quote the prompt. */
type RouteError = {
  readonly at: number
  readonly status: number
  readonly code: string
  readonly request: string
}

/** Records the results of requests by route. */
export type RouteHealthRecorder = RequestListener & {
  /** Returns the health of a route; undefined if no request was sent to it. */
  of(provider: string, model: string): RouteHealth | undefined
  /** When the last successful request to a provider has begun, in milliseconds since 1970; 0 if there was none. */
  lastSuccess(provider: string): number
}

/** Results that show nothing about the provider. */
const ignored: ReadonlySet<string> = new Set([
  circuitOpen,
  'provider_busy',
  'client_gone',
  'cancelled',
  'interrupted',
])

/** The most routes; further ones are not recorded. */
const maxRoutes = 10_000

export function createRouteHealth(): RouteHealthRecorder {
  const routes = new Map<string, Counted>()

  function healthOf(route: ModelRoute): Counted | undefined {
    const key = keyOf(route.provider.name, route.model)
    const known = routes.get(key)
    if (known !== undefined || routes.size >= maxRoutes) return known
    const health = { requests: 0, failures: 0, lastSuccessAt: null, lastError: null, goodSince: 0 }
    routes.set(key, health)
    return health
  }

  function record(
    { route, outcome, status = 0, startedAt }: Attempt,
    { id: request, finishedAt: at }: RequestRecord,
  ): void {
    if (outcome === undefined || ignored.has(outcome)) return
    const health = healthOf(route)
    if (health === undefined) return
    health.requests++
    if (outcome === 'ok') {
      health.lastSuccessAt = at
      health.goodSince = Date.now() - (performance.now() - startedAt)
    } else {
      health.failures++
      health.lastError = { at, status, code: outcome, request }
    }
  }

  return {
    finished(request: RequestRecord) {
      for (const attempt of request.attempts) record(attempt, request)
    },
    of: (provider, model) => routes.get(keyOf(provider, model)),
    lastSuccess(provider) {
      const own = [...routes].filter(([key]) => key.startsWith(`${provider}\n`))
      return Math.max(0, ...own.map(([, { goodSince }]) => goodSince))
    },
  }
}

type Counted = { -readonly [Name in keyof RouteHealth]: RouteHealth[Name] } & { goodSince: number }

function keyOf(provider: string, model: string): string {
  return `${provider}\n${model}`
}
