import { wait } from '../../lib/time.ts'
import type { FailureKind } from '../../config/model-details.ts'
import type { Call } from '../call.ts'
import type { GatewayDependencies } from '../gateway-dependencies.ts'
import type { GenerationStream } from '../generate-request.ts'
import type { ModelRoute } from '../models/model.ts'
import { routesToContainer } from '../provider-containers.ts'
import type { CallRoutes, MeteredStream } from '../streams/metered-stream.ts'
import { isExcessive } from '../streams/upstream-error.ts'
import { BrokenAnswer } from './complete-answer.ts'
import { mayBeLarger, routesForPrompt } from './context-window.ts'
import { openStream } from './open-stream.ts'
import { failureKind, Failures, isCallerTimeout, isCut, isRouteFailure, mayLeave } from './retry.ts'
import { drawRoutes, sharesByWeight } from './route-order.ts'
import { RouteSlots } from './route-slots.ts'
import { sessionOf } from './sessions.ts'

/**
 * Tries the routes of the call's model until one begins to respond; throws the combined failure of the
 * routes. A route whose circuit is open is skipped while another one may respond, but never if all circuits
 * are open.
 */
export function openWithFailover(call: Call, dependencies: GatewayDependencies): Promise<GenerationStream> {
  return new Failover(call, dependencies).open()
}

/** Decides which route a call tries next. */
class Failover implements CallRoutes {
  readonly #call: Call
  readonly #dependencies: GatewayDependencies
  readonly #organization: string
  readonly #session: bigint | undefined
  #routes: readonly ModelRoute[]
  readonly #failures: Failures
  /** The routes of this round that are neither tried nor skipped yet. */
  #remaining: readonly ModelRoute[]
  #skipped: readonly ModelRoute[] = []
  /** Whether all circuits were open when the round began. */
  #allOpen: boolean
  /** The route that is retried before the others are tried. */
  #retryRoute: ModelRoute | undefined
  #openRoute: ModelRoute | undefined
  #slots: RouteSlots | undefined
  /** Whether the answer has started again. */
  #restarted = false

  constructor(call: Call, dependencies: GatewayDependencies) {
    const { metadata, model } = call.request
    this.#call = call
    this.#dependencies = dependencies
    this.#organization = metadata.organization
    this.#session = sessionOf(call.request)
    this.#failures = new Failures(dependencies.retries)
    const routes = routesToContainer(model.routes, call.generation)
    const { contextWindow } = model
    this.#routes = this.#ordered(routesForPrompt({ routes, contextWindow }, call.generation))
    this.#allOpen = this.#areAllOpen()
    this.#remaining = this.#allOpen ? this.#slowLast() : this.#routes
  }

  async open(): Promise<MeteredStream> {
    for (;;) {
      let route = this.#nextRoute() ?? (await this.#nextRetry())
      try {
        if (route.provider.slots) route = await this.#withSlot(route)
        this.#openRoute = route
        const stream = await openStream(route, this.#call, this.#dependencies, this)
        this.#attemptSucceeded(route)
        return stream
      } catch (error) {
        if (error instanceof BrokenAnswer) this.answerBroken(error.error)
        else if (this.#isBroken(route, error)) this.answerBroken(error)
        else this.#attemptFailed(route, error)
      }
    }
  }

  /**
   * The caller has seen nothing of the answer that broke off: it starts again on another route, but once, because each time
   * has its cost.
   */
  answerBroken(error: unknown): void {
    const route = this.#openRoute
    if (route === undefined) throw error
    const kind = this.#kindOf(route, error)
    if (this.#restarted || !mayLeave(route, kind)) throw error
    this.#restarted = true
    this.#failures.record(route, error)
    this.#keepRoutes((other) => other !== route, error)
  }

  /** Whether an answer that is not streamed was cut, and another route can serve it, or has started to. */
  #isBroken(route: ModelRoute, error: unknown): boolean {
    if (this.#call.request.stream || !isCut(error) || !mayLeave(route, 'unavailable')) return false
    return this.#restarted || this.#routes.some((other) => other !== route && !this.#failures.has(other))
  }

  /** The route, or another one that shares the requests with it by weight, whichever has a free slot first. */
  async #withSlot(route: ModelRoute): Promise<ModelRoute> {
    const others = sharesByWeight(this.#routes) ? this.#remaining.filter((other) => this.#shares(other)) : []
    this.#slots ??= new RouteSlots(this.#call, this.#dependencies)
    const taken = await this.#slots.acquire(route, others, this.#session !== undefined)
    if (taken !== route) {
      this.#remaining = [route, ...this.#remaining.filter((other) => other !== taken)]
      // If this call was to be its probe, another one may be.
      this.#dependencies.breaker.releaseProbe(route)
    }
    return taken
  }

  #shares(route: ModelRoute): boolean {
    return route.weight !== 0 && !this.#isOpen(route)
  }

  /** The route that can be tried at once, if there is one. */
  #nextRoute(): ModelRoute | undefined {
    return this.#retryRoute === undefined
      ? (this.#nextRemaining() ?? this.#nextSkipped() ?? this.#untried())
      : undefined
  }

  /** Waits, and returns the route to retry; throws the combined failure if no route is worth a retry. */
  async #nextRetry(): Promise<ModelRoute> {
    const [route, ...others] = this.#retryCandidates()
    if (route === undefined) throw this.#failures.combined()
    await this.#pause([route, ...others])
    if (this.#retryRoute === undefined) this.#allOpen = true
    this.#retryRoute = undefined
    this.#remaining = [...others, ...this.#remaining]
    return route
  }

  /**
   * Records that the route has failed for this call; rethrows an error that another route would not change, or after which
   * the route is not left.
   */
  #attemptFailed(route: ModelRoute, error: unknown): void {
    const kind = this.#kindOf(route, error)
    if (kind === 'context_length') {
      if (!mayLeave(route, kind)) throw error
      return this.#keepRoutes((other) => other !== route && mayBeLarger(other, route), error)
    }
    this.#failures.record(route, error)
    // A route whose circuit is open now comes only after all others.
    if (!this.#isOpen(route) && this.#failures.canRetry(route)) this.#retryRoute = route
    else if (!mayLeave(route, kind)) throw error
  }

  /** The kind of the failure of this attempt; throws an error that another route would not change. */
  #kindOf(route: ModelRoute, error: unknown): FailureKind {
    const { observer, abortSource, meter } = this.#call
    this.#call.releaseProviderSlot()
    observer?.attemptFailed(error)
    if (!isRouteFailure(error)) this.#dependencies.breaker.releaseProbe(route)
    if (abortSource.aborted) throw abortSource.reason
    // What an excessive answer has used is charged when the call is settled.
    if (!isExcessive(error)) meter.attemptFailed(isCallerTimeout(error))
    const kind = failureKind(error)
    if (kind === undefined) throw error
    return kind
  }

  /** Goes on with these routes only; throws the error if each of them has failed. */
  #keepRoutes(isKept: (route: ModelRoute) => boolean, error: unknown): void {
    this.#routes = this.#routes.filter(isKept)
    this.#remaining = this.#remaining.filter(isKept)
    this.#skipped = this.#skipped.filter(isKept)
    if (this.#routes.every((route) => this.#failures.has(route))) throw error
  }

  /** Records which route serves the session of this call. */
  #attemptSucceeded(route: ModelRoute): void {
    const { routes } = this.#call.request.model
    if (this.#session !== undefined) this.#dependencies.sessions.served(this.#session, routes, route)
  }

  #ordered(routes: readonly ModelRoute[]): readonly ModelRoute[] {
    const isOpen = (route: ModelRoute) => this.#isOpen(route)
    return this.#session === undefined
      ? drawRoutes(routes, isOpen)
      : this.#dependencies.sessions.order(this.#session, routes, isOpen)
  }

  #nextRemaining(): ModelRoute | undefined {
    const { breaker } = this.#dependencies
    for (;;) {
      const route = this.#remaining[0]
      if (route === undefined) return undefined
      this.#remaining = this.#remaining.slice(1)
      if (this.#allOpen || !this.#isOpen(route) || breaker.allowsRequest(route, this.#organization))
        return route
      this.#call.observer?.routeSkipped(route)
      this.#skipped = [...this.#skipped, route]
    }
  }

  /**
   * A skipped route is better than a failure, but it may cost a timeout only if no other route can ever
   * respond.
   */
  #nextSkipped(): ModelRoute | undefined {
    const { breaker } = this.#dependencies
    const allFinal = this.#failures.areFinal()
    const route = this.#skipped.find((skipped) => allFinal || !breaker.isSlow(skipped))
    this.#skipped = this.#skipped.filter((skipped) => skipped !== route)
    return route
  }

  #untried(): ModelRoute | undefined {
    return this.#areAllOpen() ? this.#routes.find((route) => !this.#failures.has(route)) : undefined
  }

  /** A route whose circuit is open is worth a wait only if no other could have responded. */
  #retryCandidates(): readonly ModelRoute[] {
    if (this.#retryRoute) return [this.#retryRoute]
    return this.#areAllOpen() ? this.#slowLast().filter((route) => this.#failures.canRetry(route)) : []
  }

  /** The pause counts as time spent waiting for the provider. */
  async #pause(routes: readonly ModelRoute[]): Promise<void> {
    const { abortSource, observer } = this.#call
    observer?.upstreamStopwatch.start()
    await wait(this.#failures.retryDelayMs(routes), abortSource)
    observer?.upstreamStopwatch.stop()
  }

  /** Whether the circuit of the route is open, after failures for which it may be left. */
  #isOpen(route: ModelRoute): boolean {
    const { breaker } = this.#dependencies
    if (!breaker.isOpen(route, this.#organization)) return false
    return mayLeave(route, breaker.isSlow(route) ? 'timeout' : 'unavailable')
  }

  #areAllOpen(): boolean {
    return this.#routes.every((route) => this.#isOpen(route))
  }

  /** The routes, those that fail fast before those that time out. */
  #slowLast(): readonly ModelRoute[] {
    const { breaker } = this.#dependencies
    return this.#routes.toSorted((a, b) => Number(breaker.isSlow(a)) - Number(breaker.isSlow(b)))
  }
}
