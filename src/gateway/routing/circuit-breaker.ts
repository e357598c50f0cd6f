import { reachable } from '../../lib/reachable.ts'
import type { ModelRoute } from '../models/model.ts'

/** Keeps callers from waiting for routes that fail, where another route of the model can answer. */
export type CircuitBreaker = {
  /** Whether calls of the organization go to another route, if the model has one that is not out. */
  isOpen(route: ModelRoute, organization: string): boolean
  /** Whether the route is out because callers waited in vain for it. */
  isSlow(route: ModelRoute): boolean
  /** True while the route is not out; true once in each probe interval while it is, for the call that probes it. */
  allows(route: ModelRoute, organization: string): boolean
  succeeded(route: ModelRoute): void
  failed(route: ModelRoute, organization: string, failure: RouteFailure): void
  /** A call has ended in a way that says nothing of the route; if it was the probe, another call may probe. */
  released(route: ModelRoute): void
  /** The routes that are out for at least one organization. */
  openCircuits(): readonly { readonly provider: string; readonly model: string }[]
}

/** How a route has failed. */
export type RouteFailure = {
  /** No connection could be made: this holds for every organization, whatever it has sent. */
  readonly unreachable: boolean
  /** The caller has waited until a timeout. */
  readonly slow: boolean
}

/** `failures` in a row take a route out; `cooldown` in milliseconds is between probes that may end in a timeout. */
export type CircuitBreakerSettings = { readonly failures: number; readonly cooldown: number }

/** Creates a breaker without any failures; `now` in milliseconds, `connects` whether a connection can be made. */
export function createCircuitBreaker(
  settings: CircuitBreakerSettings,
  now: () => number = performance.now,
  connects: (route: ModelRoute) => Promise<boolean> = takesConnections,
): CircuitBreaker {
  return new RouteCircuitBreaker(settings, now, connects)
}

function takesConnections({ provider }: ModelRoute): Promise<boolean> {
  return reachable(provider.baseUrl, provider.timeouts.connect / 2)
}

/** What is known of a route since its last success. */
type Health = {
  /** Failures in a row, of each organization. */
  readonly failures: Map<string, number>
  /** Whether it is out for everybody. */
  out: boolean
  slow: boolean
  /** Whether no connection could be made the last time. */
  unreachable: boolean
  probeAt: number
  probedBy: string | undefined
}

/** Milliseconds between probes of a route that is out. */
const probeInterval = 1000

/** Organizations whose failures are counted for one route; beyond them the oldest are forgotten. */
const maxOrganizations = 100

/**
 * One organization's failures may be provoked by what it sends: they take the route out for that organization alone. It
 * is out for everybody when no connection can be made, or when several organizations have failed in a row.
 */
class RouteCircuitBreaker implements CircuitBreaker {
  readonly #maxFailures: number
  readonly #cooldown: number
  readonly #interval: number
  readonly #now: () => number
  readonly #connects: (route: ModelRoute) => Promise<boolean>
  readonly #routes = new Map<string, Health>()

  constructor(
    { failures, cooldown }: CircuitBreakerSettings,
    now: () => number,
    connects: (route: ModelRoute) => Promise<boolean>,
  ) {
    this.#maxFailures = failures
    this.#cooldown = cooldown
    this.#interval = Math.min(probeInterval, cooldown)
    this.#now = now
    this.#connects = connects
  }

  isOpen(route: ModelRoute, organization: string): boolean {
    const health = this.#healthOf(route)
    return health !== undefined && this.#isOutFor(health, organization)
  }

  isSlow(route: ModelRoute): boolean {
    return this.#healthOf(route)?.slow === true
  }

  allows(route: ModelRoute, organization: string): boolean {
    const health = this.#healthOf(route)
    if (health === undefined || !this.#isOutFor(health, organization)) return true
    // An organization whose probes all fail must not be the only one that probes.
    const head = health.probedBy === organization ? 0 : this.#interval / 2
    if (this.#now() < health.probeAt - head) return false
    // Unless the probe ends before, the others wait for it that long.
    health.probeAt = this.#now() + this.#cooldown
    if (health.slow && health.unreachable) {
      void this.#probeConnection(route, health)
      return false
    }
    health.probedBy = organization
    return true
  }

  succeeded(route: ModelRoute): void {
    if (this.#routes.size > 0) this.#routes.delete(nameOf(route))
  }

  failed(route: ModelRoute, organization: string, { unreachable, slow }: RouteFailure): void {
    const health = this.#healthOf(route) ?? newHealth()
    this.#routes.set(nameOf(route), health)
    const wasOut = this.#isOutFor(health, organization)
    this.#count(health, organization)
    health.out ||= unreachable || this.#manyFail(health)
    health.slow = slow
    health.unreachable = unreachable
    if (!wasOut) {
      health.probeAt = this.#now() + (slow && !unreachable ? this.#cooldown : this.#interval)
      health.probedBy = organization
    } else if (!slow) this.#probeSoon(health)
  }

  released(route: ModelRoute): void {
    const health = this.#healthOf(route)
    if (health) this.#probeSoon(health)
  }

  openCircuits(): readonly { readonly provider: string; readonly model: string }[] {
    const out = [...this.#routes].filter(([, health]) => health.out || this.#isOutForAny(health))
    return out.map(([name]) => {
      const [provider = '', model = ''] = name.split('\n')
      return { provider, model }
    })
  }

  #healthOf(route: ModelRoute): Health | undefined {
    return this.#routes.size === 0 ? undefined : this.#routes.get(nameOf(route))
  }

  #isOutFor(health: Health, organization: string): boolean {
    return health.out || (health.failures.get(organization) ?? 0) >= this.#maxFailures
  }

  #isOutForAny({ failures }: Health): boolean {
    return failures.values().some((count) => count >= this.#maxFailures)
  }

  #count({ failures }: Health, organization: string): void {
    const count = failures.get(organization) ?? 0
    const [oldest] = failures.keys()
    if (count === 0 && failures.size >= maxOrganizations && oldest !== undefined) failures.delete(oldest)
    failures.set(organization, count + 1)
  }

  /** Whether there are failures enough without most of those of the organization that has the most. */
  #manyFail({ failures }: Health): boolean {
    const counts = [...failures.values()]
    const all = counts.reduce((sum, count) => sum + count, 0)
    const others = all - Math.max(...counts)
    return all >= this.#maxFailures && others >= Math.max(1, Math.floor(this.#maxFailures / 2))
  }

  /** Before a call waits again for a connection that could not be made in time, one of the gateway's own is tried. */
  async #probeConnection(route: ModelRoute, health: Health): Promise<void> {
    const connected = await this.#connects(route)
    if (connected) health.slow = false
    health.probeAt = this.#now() + (connected ? 0 : this.#interval)
  }

  /** A late failure of an older call does not put the next probe off. */
  #probeSoon(health: Health): void {
    health.probeAt = Math.min(health.probeAt, this.#now() + this.#interval)
  }
}

function newHealth(): Health {
  return { failures: new Map(), out: false, slow: false, unreachable: false, probeAt: 0, probedBy: undefined }
}

function nameOf({ provider, model }: ModelRoute): string {
  return `${provider.name}\n${model}`
}
