import type { Stopwatch } from '../lib/stopwatch.ts'
import type { RequestFacts } from '../storage/request-facts.ts'
import type { Outcome } from '../storage/usage.ts'
import type { ModelRoute } from './models/model.ts'

/** Hears what is asked of models. It decides nothing, and throws nothing. */
export type Observer = {
  /** What is known of a request that asks a model, also where it comes to nothing. */
  noted(facts: RequestFacts): void
  /** A call begins; a booked one is made when its request was answered long ago. */
  call(facts: RequestFacts, booked: boolean): CallObserver
}

/** Hears of one call: what is tried for it, and once how it ends. */
export type CallObserver = {
  /** Runs while a provider is waited for, over all tries. */
  readonly upstream: Stopwatch
  /** The route is asked. */
  asked(route: ModelRoute): void
  /** The route is not asked, because it failed too often. */
  passedOver(route: ModelRoute): void
  /** What was asked last has failed with this error. */
  failed(error: unknown): void
  ended(outcome: Outcome): void
}
