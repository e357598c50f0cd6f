import { wait } from '../../lib/time.ts'
import type { Call } from '../call.ts'
import type { GatewayParts, GenerationStream } from '../gateway.ts'
import type { ModelRoute } from '../models/model.ts'
import { openStream } from './open-stream.ts'
import {
  combinedFailure,
  isFinal,
  isRetryable,
  isRouteFailure,
  retryDelayMs,
  shouldFailover,
} from './retry.ts'
import { routeOrder } from './route-order.ts'

/**
 * Tries the routes of the call's model until one begins to answer; throws the failure of the routes. A route that is out
 * is skipped while another one may answer, and never if all are out.
 */
export async function openWithFailover(call: Call, parts: GatewayParts): Promise<GenerationStream> {
  const failover = new Failover(call, parts)
  for (;;) {
    const route = failover.next() ?? (await failover.nextAfterPause())
    try {
      return await openStream(route, call, parts)
    } catch (error) {
      failover.failed(route, error)
    }
  }
}

/** How a route has failed for this call. */
type Attempts = { readonly count: number; readonly error: unknown }

/** Decides for one call which route is tried next. */
class Failover {
  readonly #call: Call
  readonly #parts: GatewayParts
  readonly #organization: string
  readonly #routes: readonly ModelRoute[]
  /** In the order of their last failures. */
  readonly #failed = new Map<ModelRoute, Attempts>()
  /** The routes of this round that are yet to be tried or skipped. */
  #waiting: readonly ModelRoute[]
  #skipped: readonly ModelRoute[] = []
  /** Whether all routes were out when the round began. */
  #allOut: boolean
  /** The route that is worth another try before the others. */
  #again: ModelRoute | undefined

  constructor(call: Call, parts: GatewayParts) {
    const { facts, model } = call.question
    this.#call = call
    this.#parts = parts
    this.#organization = facts.organization
    this.#routes = routeOrder(model.routes, (route) => this.#isOut(route))
    this.#allOut = this.#allAreOut()
    this.#waiting = this.#allOut ? this.#slowLast() : this.#routes
  }

  /** The route that can be tried at once, if there is one. */
  next(): ModelRoute | undefined {
    return this.#again === undefined
      ? (this.#nextWaiting() ?? this.#nextSkipped() ?? this.#untried())
      : undefined
  }

  /** The route that is tried again; throws the failure of them all where none is worth it. */
  async nextAfterPause(): Promise<ModelRoute> {
    const [route, ...others] = this.#worthAnotherTry()
    if (route === undefined) throw combinedFailure([...this.#failed.values()].map(({ error }) => error))
    await this.#pause([route, ...others])
    if (this.#again === undefined) this.#allOut = true
    this.#again = undefined
    this.#waiting = [...others, ...this.#waiting]
    return route
  }

  /** The route has failed for this call; throws what another route would not change. */
  failed(route: ModelRoute, error: unknown): void {
    const { observed, stop, meter } = this.#call
    observed?.attemptFailed(error)
    if (!isRouteFailure(error)) this.#parts.breaker.released(route)
    if (stop.aborted) throw stop.reason
    meter.attemptFailed()
    if (!shouldFailover(error)) throw error
    const count = this.#countOf(route) + 1
    this.#failed.delete(route)
    this.#failed.set(route, { count, error })
    // One that is out now comes again only behind all others.
    if (!this.#isOut(route) && this.#mayTryAgain(route)) this.#again = route
  }

  #nextWaiting(): ModelRoute | undefined {
    for (;;) {
      const [route, ...others] = this.#waiting
      if (route === undefined) return undefined
      this.#waiting = others
      if (this.#allOut || this.#parts.breaker.allows(route, this.#organization)) return route
      this.#call.observed?.routeSkipped(route)
      this.#skipped = [...this.#skipped, route]
    }
  }

  /** What was skipped is better than no answer, but may cost a timeout only where no other route will ever answer. */
  #nextSkipped(): ModelRoute | undefined {
    const { breaker } = this.#parts
    const lastHope = this.#failed.values().every(({ error }) => isFinal(error))
    const route = this.#skipped.find((skipped) => lastHope || !breaker.isSlow(skipped))
    this.#skipped = this.#skipped.filter((skipped) => skipped !== route)
    return route
  }

  #untried(): ModelRoute | undefined {
    return this.#allAreOut() ? this.#routes.find((route) => !this.#failed.has(route)) : undefined
  }

  /** One that is out is worth a wait only where no other could have answered. */
  #worthAnotherTry(): readonly ModelRoute[] {
    if (this.#again) return [this.#again]
    return this.#allAreOut() ? this.#slowLast().filter((route) => this.#mayTryAgain(route)) : []
  }

  /** The provider is waited for, though nothing is under way. */
  async #pause(routes: readonly ModelRoute[]): Promise<void> {
    const { stop, observed } = this.#call
    const retry = Math.min(...routes.map((route) => this.#countOf(route))) - 1
    const error = combinedFailure(routes.map((route) => this.#failed.get(route)?.error))
    observed?.upstream.start()
    await wait(retryDelayMs(retry, error), stop)
    observed?.upstream.stop()
  }

  #mayTryAgain(route: ModelRoute): boolean {
    return this.#countOf(route) <= this.#parts.retries && isRetryable(this.#failed.get(route)?.error)
  }

  #countOf(route: ModelRoute): number {
    return this.#failed.get(route)?.count ?? 0
  }

  #isOut(route: ModelRoute): boolean {
    return this.#parts.breaker.isOpen(route, this.#organization)
  }

  #allAreOut(): boolean {
    return this.#routes.every((route) => this.#isOut(route))
  }

  /** A caller's wait begins with those that fail at once. */
  #slowLast(): readonly ModelRoute[] {
    const { breaker } = this.#parts
    return this.#routes.toSorted((a, b) => Number(breaker.isSlow(a)) - Number(breaker.isSlow(b)))
  }
}
