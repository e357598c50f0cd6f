import { isReachable } from '../../lib/reachable.ts'
import { type ModelRoute, routeKey } from '../models/model.ts'

/** How a route has failed. */
export type RouteFailure = {
  /** No connection could be made: this counts for every organization, whatever it has sent. */
  readonly unreachable: boolean
  /** The caller has waited until a timeout. */
  readonly slow: boolean
}

/**
 * `failures` in a row open a circuit; `cooldown` is the milliseconds between probes that may end in a
 * timeout.
 */
type CircuitBreakerSettings = { readonly failures: number; readonly cooldown: number }

/** Whether calls are kept away from a route: those of no organization, of some, or of all. */
type CircuitState = 'closed' | 'partly_open' | 'open'

/** The health of a route since its last success. */
type RouteHealth = {
  /** Consecutive failures by organization. */
  readonly failures: Map<string, number>
  /** Whether the circuit is open for every organization. */
  isOpen: boolean
  slow: boolean
  /** Whether the last failure was that no connection could be made. */
  unreachable: boolean
  probeAt: number
  probedBy: string | undefined
}

/** The time between probes of a route whose circuit is open. */
const probeIntervalMs = 1000

/** Organizations whose failures are counted for one route; beyond them the oldest are dropped. */
const maxOrganizations = 100

/**
 * Keeps calls away from routes that fail while another route of the model can serve them.
 *
 * One organization's failures may be caused by what it sends: they open the circuit for that organization alone. The
 * circuit opens for all organizations when no connection can be made, or when several organizations have failed in a row.
 */
export class CircuitBreaker {
  readonly #maxFailures: number
  readonly #cooldownMs: number
  readonly #intervalMs: number
  readonly #now: () => number
  readonly #canConnect: (route: ModelRoute) => Promise<boolean>
  readonly #routes = new Map<string, RouteHealth>()

  /** `now` is in milliseconds; `canConnect` resolves to whether a connection to the route can be made. */
  constructor(
    { failures, cooldown }: CircuitBreakerSettings,
    now: () => number = performance.now,
    canConnect: (route: ModelRoute) => Promise<boolean> = acceptsConnections,
  ) {
    this.#maxFailures = failures
    this.#cooldownMs = cooldown
    this.#intervalMs = Math.min(probeIntervalMs, cooldown)
    this.#now = now
    this.#canConnect = canConnect
  }

  /** Whether calls of the organization should take another route of the model, if there is one. */
  isOpen(route: ModelRoute, organization: string): boolean {
    const health = this.#healthOf(route)
    return health !== undefined && this.#isOpenFor(health, organization)
  }

  /** Whether the circuit is open because callers waited for the route until a timeout. */
  isSlow(route: ModelRoute): boolean {
    return this.#healthOf(route)?.slow === true
  }

  /**
   * True while the circuit is closed. While it is open, true once in each probe interval, for the call that
   * probes the route.
   */
  allowsRequest(route: ModelRoute, organization: string): boolean {
    const health = this.#healthOf(route)
    if (health === undefined || !this.#isOpenFor(health, organization)) return true
    // An organization whose probes all fail must not be the only one that probes.
    const earlyMs = health.probedBy === organization ? 0 : this.#intervalMs / 2
    if (this.#now() < health.probeAt - earlyMs) return false
    // The other calls wait that long, unless the probe ends earlier.
    health.probeAt = this.#now() + this.#cooldownMs
    if (health.slow && health.unreachable) {
      void this.#probeConnection(route, health)
      return false
    }
    health.probedBy = organization
    return true
  }

  /** The route has served a call: its circuit closes. */
  recordSuccess(route: ModelRoute): void {
    if (this.#routes.size > 0) this.#routes.delete(routeKey(route))
  }

  /** The route has failed for a call of the organization. */
  recordFailure(route: ModelRoute, organization: string, { unreachable, slow }: RouteFailure): void {
    const health = this.#healthOf(route) ?? createHealth()
    this.#routes.set(routeKey(route), health)
    const wasOpen = this.#isOpenFor(health, organization)
    this.#countFailure(health, organization)
    health.isOpen ||= unreachable || this.#hasManyFailures(health)
    health.slow = slow
    health.unreachable = unreachable
    if (!wasOpen) {
      health.probeAt = this.#now() + (slow && !unreachable ? this.#cooldownMs : this.#intervalMs)
      health.probedBy = organization
    } else if (!slow) this.#probeSoon(health)
  }

  /**
   * A call has ended in a way that shows nothing about the route. If it was the probe, another call may
   * probe.
   */
  releaseProbe(route: ModelRoute): void {
    const health = this.#healthOf(route)
    if (health) this.#probeSoon(health)
  }

  /** The state of the circuit of a route, for the operator. */
  stateOf(route: ModelRoute): CircuitState {
    const health = this.#healthOf(route)
    if (health === undefined) return 'closed'
    if (health.isOpen) return 'open'
    return this.#isOpenForAny(health) ? 'partly_open' : 'closed'
  }

  /** The routes whose circuit is open for at least one organization. */
  openCircuits(): readonly { readonly provider: string; readonly model: string }[] {
    const open = [...this.#routes].filter(([, health]) => health.isOpen || this.#isOpenForAny(health))
    return open.map(([name]) => {
      const [provider = '', model = ''] = name.split('\n')
      return { provider, model }
    })
  }

  #healthOf(route: ModelRoute): RouteHealth | undefined {
    return this.#routes.size === 0 ? undefined : this.#routes.get(routeKey(route))
  }

  #isOpenFor(health: RouteHealth, organization: string): boolean {
    return health.isOpen || (health.failures.get(organization) ?? 0) >= this.#maxFailures
  }

  #isOpenForAny({ failures }: RouteHealth): boolean {
    return failures.values().some((count) => count >= this.#maxFailures)
  }

  #countFailure({ failures }: RouteHealth, organization: string): void {
    const count = failures.get(organization) ?? 0
    const [oldest] = failures.keys()
    if (count === 0 && failures.size >= maxOrganizations && oldest !== undefined) failures.delete(oldest)
    failures.set(organization, count + 1)
  }

  /** Whether there are enough failures even without most of those of the organization that has the most. */
  #hasManyFailures({ failures }: RouteHealth): boolean {
    const counts = [...failures.values()]
    const total = counts.reduce((sum, count) => sum + count, 0)
    const others = total - Math.max(...counts)
    return total >= this.#maxFailures && others >= Math.max(1, Math.floor(this.#maxFailures / 2))
  }

  /**
   * After a connection timeout the gateway first tries a connection of its own, before a call waits for the
   * route.
   */
  async #probeConnection(route: ModelRoute, health: RouteHealth): Promise<void> {
    const connected = await this.#canConnect(route)
    if (connected) health.slow = false
    health.probeAt = this.#now() + (connected ? 0 : this.#intervalMs)
  }

  /** Brings the next probe forward; a late failure of an older call never delays it. */
  #probeSoon(health: RouteHealth): void {
    health.probeAt = Math.min(health.probeAt, this.#now() + this.#intervalMs)
  }
}

function acceptsConnections({ provider }: ModelRoute): Promise<boolean> {
  return isReachable(provider.baseUrl, provider.timeouts.connect / 2)
}

function createHealth(): RouteHealth {
  return {
    failures: new Map(),
    isOpen: false,
    slow: false,
    unreachable: false,
    probeAt: 0,
    probedBy: undefined,
  }
}
