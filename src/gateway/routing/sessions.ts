import type { Generation } from '../../domain/generation/request.ts'
import { RecentMap } from '../../lib/recent-map.ts'
import type { GenerateRequest } from '../generate-request.ts'
import { type ModelRoute, routeKey } from '../models/model.ts'
import { rankRoutes, sharesByWeight } from './route-order.ts'

/**
 * The session of a request whose model keeps sessions on one of its weighted routes, as a hash; else undefined. It is
 * the one that the request names, or else the conversation, by its beginning. Sessions of different organizations
 * or models are never the same.
 */
export function sessionOf(
  request: Pick<GenerateRequest, 'metadata' | 'model' | 'generation'>,
): bigint | undefined {
  const { metadata, model, generation } = request
  if (model.affinity === 'none' || !sharesByWeight(model.routes)) return undefined
  const named = metadata.session ?? generation.extras.prompt_cache_key
  if (named == null && generation.operation !== undefined) return undefined
  const scope = Bun.hash.wyhash(`${metadata.organization}\n${model.slug}`)
  return Bun.hash.wyhash(named == null ? beginningOf(generation) : JSON.stringify(named), scope)
}

/** Characters of each text: one that is longer differs before. */
const maxHashedLength = 65_536

/** The part that all turns of a conversation share: the names of its tools, and the messages up to the first of the user. */
function beginningOf({ messages, tools, providerTools = [] }: Generation): string {
  const names = [...tools, ...providerTools].map(({ name }) => name)
  const first = messages.findIndex(({ role }) => role === 'user')
  const beginning = messages.slice(0, first + 1).map(({ role, parts }) => ({ role, parts }))
  return JSON.stringify([names, beginning], (name, value: unknown) => {
    // Clients move the marks of what is cached from turn to turn.
    if (name === 'extras' || name === 'cache_control') return undefined
    return typeof value === 'string' ? value.slice(0, maxHashedLength) : value
  })
}

/** Milliseconds without a request, after which a provider has usually dropped the cached prompt of a session. */
const idleMs = 5 * 60_000
/** Milliseconds after which a moved session returns, even if it is busy: otherwise the weights would not hold. */
const maxMovedMs = 60 * 60_000
/** Beyond them, the one that was used least recently is forgotten. */
const maxSessions = 10_000

type Move = { readonly route: string; readonly movedAt: number; readonly usedAt: number }

/**
 * Orders the routes for sessions. A session that another route than its preferred one has served stays there while that
 * route probably has its prompt in its cache. Each server remembers this for its own requests.
 */
export class SessionRoutes {
  readonly #now: () => number
  readonly #moves = new RecentMap<bigint, Move>(maxSessions)

  /** `now` is in milliseconds. */
  constructor(now: () => number = performance.now) {
    this.#now = now
  }

  /**
   * The order in which the routes are tried for the session. A moved session begins with the route that it prefers while
   * the circuit of that one is open, so that it is probed, or skipped.
   */
  order(
    session: bigint,
    routes: readonly ModelRoute[],
    isOpen: (route: ModelRoute) => boolean,
  ): readonly ModelRoute[] {
    const ranked = rankRoutes(routes, session)
    const moved = this.#movedTo(session, ranked)
    const [preferred] = ranked
    if (preferred === undefined || moved === undefined || isOpen(moved)) return ranked
    const others = ranked.filter((route) => route !== moved && route !== preferred)
    return isOpen(preferred) ? [preferred, moved, ...others] : [moved, preferred, ...others]
  }

  /** The route has served a request of the session, which has these routes. */
  served(session: bigint, routes: readonly ModelRoute[], route: ModelRoute): void {
    const move = this.#moves.get(session)
    if (rankRoutes(routes, session)[0] === route) return void this.#moves.delete(session)
    const now = this.#now()
    const key = routeKey(route)
    this.#moves.set(session, { route: key, movedAt: move?.route === key ? move.movedAt : now, usedAt: now })
  }

  #movedTo(session: bigint, routes: readonly ModelRoute[]): ModelRoute | undefined {
    const move = this.#moves.get(session)
    if (move === undefined) return undefined
    const now = this.#now()
    if (now - move.usedAt < idleMs && now - move.movedAt < maxMovedMs)
      return routes.find((route) => routeKey(route) === move.route)
    this.#moves.delete(session)
    return undefined
  }
}
