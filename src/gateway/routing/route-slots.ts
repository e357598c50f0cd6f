import { abortReason, onAbort } from '../../lib/abort.ts'
import { providerBusy } from '../../lib/errors/upstream-errors.ts'
import type { Call } from '../call.ts'
import type { GatewayDependencies } from '../gateway-dependencies.ts'
import type { ModelRoute } from '../models/model.ts'
import type { ProviderQueue, ProviderQueues, Waiter } from './provider-queue.ts'

type SlotDependencies = Pick<GatewayDependencies, 'queues' | 'firstEventTimeoutMs'>

/** Milliseconds for which a session waits for the route that has its prompt in the cache, before another one may serve it. */
const sessionWaitMs = 2000
/** Milliseconds. No client waits for a background run, which could disconnect. */
const backgroundWaitMs = 60 * 60_000

/** Takes the slots of one call at the providers that have a limited number of them. */
export class RouteSlots {
  readonly #call: Call
  readonly #dependencies: SlotDependencies
  /** Of all waits that have ended. */
  #waitedMs = 0

  constructor(call: Call, dependencies: SlotDependencies) {
    this.#call = call
    this.#dependencies = dependencies
  }

  /**
   * Takes a slot of the route, or of one of the others if that has one earlier, and returns the route that has it. Rejects
   * with the 429 if the queues are full, or if the call has waited as long as it may, for all of its routes together.
   */
  acquire(
    route: ModelRoute,
    others: readonly ModelRoute[],
    inSession: boolean,
  ): ModelRoute | Promise<ModelRoute> {
    const candidates = inSession ? [route] : [route, ...others]
    return takeFree(candidates, this.#call, this.#dependencies.queues) ?? this.#wait(route, others, inSession)
  }

  async #wait(route: ModelRoute, others: readonly ModelRoute[], inSession: boolean): Promise<ModelRoute> {
    const { abortSource, observer, request } = this.#call
    const { queues, firstEventTimeoutMs } = this.#dependencies
    if (abortSource.aborted) throw abortReason(abortSource)
    const startedAt = performance.now()
    const remainingMs = this.#maxWaitMs([route, ...others]) - this.#waitedMs
    if (remainingMs <= 0) throw busyError(route, this.#call, queues)
    const wait = new SlotWait(this.#call, queues)
    const timers = [
      setTimeout(() => wait.reject(route), remainingMs),
      setTimeout(() => request.onWaiting?.(), Math.max(0, firstEventTimeoutMs - this.#waitedMs)),
    ]
    const ignoreAbort = onAbort(abortSource, () => wait.fail(abortReason(abortSource)))
    observer?.queued(route)
    this.#call.waitsForSlot = true
    try {
      if (wait.enter([route]) && inSession) timers.push(setTimeout(() => wait.enter(others), sessionWaitMs))
      else if (!wait.enter(others)) wait.reject(route)
      return await wait.result
    } finally {
      for (const timer of timers) clearTimeout(timer)
      ignoreAbort()
      this.#call.waitsForSlot = false
      this.#waitedMs += performance.now() - startedAt
      observer?.dequeued()
    }
  }

  /** Milliseconds. Where the first token has a timeout, the wait for a slot has the same. */
  #maxWaitMs(routes: readonly ModelRoute[]): number {
    const { reserved, stream, firstTokenTimeoutMs, model } = this.#call.request
    if (reserved) return backgroundWaitMs
    const firstTokenMs = stream ? (firstTokenTimeoutMs ?? model.firstTokenTimeoutMs) : undefined
    const waitMs = Math.max(...routes.map(({ provider }) => provider.slots?.waitMs ?? 0))
    return Math.min(waitMs, firstTokenMs ?? Number.POSITIVE_INFINITY)
  }
}

/** Takes a slot of the first route that has a free one, or that needs none, and returns that route. */
function takeFree(routes: readonly ModelRoute[], call: Call, queues: ProviderQueues): ModelRoute | undefined {
  return routes.find(({ provider }) => {
    const queue = queues.of(provider)
    const release = queue?.tryAcquire(keyOf(call))
    if (release) call.holdProviderSlot(release)
    return queue === undefined || release !== undefined
  })
}

function keyOf({ request: { metadata } }: Call): string {
  return metadata.key ?? metadata.organization
}

/** One call in the queues of its routes: the first free slot ends the wait. */
class SlotWait implements Waiter {
  readonly key: string
  readonly background: boolean
  readonly result: Promise<ModelRoute>
  readonly #call: Call
  readonly #queues: ProviderQueues
  readonly #outcome = Promise.withResolvers<ModelRoute>()
  readonly #entered = new Map<ProviderQueue, ModelRoute>()
  #hasEnded = false

  constructor(call: Call, queues: ProviderQueues) {
    this.key = keyOf(call)
    this.background = call.request.reserved !== undefined
    this.result = this.#outcome.promise
    this.#call = call
    this.#queues = queues
  }

  /** Takes a free slot of one of the routes, or enters their queues; returns false if the call is in no queue after that. */
  enter(routes: readonly ModelRoute[]): boolean {
    if (this.#hasEnded) return true
    const free = takeFree(routes, this.#call, this.#queues)
    if (free) this.#end(free)
    else
      for (const route of routes) {
        const queue = this.#queues.of(route.provider)
        if (queue && !this.#entered.has(queue) && queue.enter(this)) this.#entered.set(queue, route)
      }
    return free !== undefined || this.#entered.size > 0
  }

  admit(queue: ProviderQueue, release: () => void): void {
    const route = this.#entered.get(queue)
    this.#call.holdProviderSlot(release)
    if (route) this.#end(route)
  }

  displace(queue: ProviderQueue): void {
    const route = this.#entered.get(queue)
    this.#entered.delete(queue)
    if (route && this.#entered.size === 0) this.reject(route)
  }

  /** Ends the wait with the 429 of this route. */
  reject(route: ModelRoute): void {
    this.fail(busyError(route, this.#call, this.#queues))
  }

  /** Ends the wait. The call leaves its queues at once: a slot that it was given later would never be free again. */
  fail(error: unknown): void {
    this.#leave()
    this.#outcome.reject(error)
  }

  #end(route: ModelRoute): void {
    this.#leave()
    this.#outcome.resolve(route)
  }

  #leave(): void {
    this.#hasEnded = true
    for (const queue of this.#entered.keys()) queue.leave(this)
    this.#entered.clear()
  }
}

/** The 429 of the route, which counts as an attempt. */
function busyError(route: ModelRoute, { observer }: Call, queues: ProviderQueues): Error {
  observer?.attemptStarted(route)
  const { name } = route.provider
  return providerBusy(name, queues.of(route.provider)?.estimatedWaitMs() ?? 0)
}
