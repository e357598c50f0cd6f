import { type ModelRoute, routeKey } from '../models/model.ts'

/** Beyond it an answer was not generated, but came from a cache of the provider. */
const maxTokensPerSecond = 5000
/** A complete answer that is slower than the known speed moves it by this part of the difference. */
const decay = 1 / 32
/** Beyond them the oldest are dropped. */
const maxRoutes = 4096

/**
 * How fast the routes generate, by their complete answers: near the fastest of the last ones. Of a model that reasons
 * unseen, nothing else says how much it has generated when a caller leaves.
 */
export class RouteSpeeds {
  readonly #speeds = new Map<string, number>()

  /** Tokens per second of one choice; undefined for a route without a complete answer so far. */
  of(route: ModelRoute): number | undefined {
    return this.#speeds.get(routeKey(route))
  }

  /** Adds the speed of a complete answer. */
  record(route: ModelRoute, tokensPerSecond: number): void {
    if (tokensPerSecond > maxTokensPerSecond) return
    const key = routeKey(route)
    const known = this.#speeds.get(key) ?? 0
    const lower = known + (tokensPerSecond - known) * decay
    this.#speeds.delete(key)
    this.#speeds.set(key, Math.max(tokensPerSecond, lower))
    const [oldest] = this.#speeds.keys()
    if (this.#speeds.size > maxRoutes && oldest !== undefined) this.#speeds.delete(oldest)
  }
}
