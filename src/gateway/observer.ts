import type { Stopwatch } from '../lib/stopwatch.ts'
import type { RequestMetadata } from '../domain/accounting/request-metadata.ts'
import type { Outcome } from '../domain/accounting/outcome.ts'
import type { ModelRoute } from './models/model.ts'

/** Hears what is asked of models. It decides nothing, and throws nothing. */
export type Observer = {
  /** What is known of a request that asks a model, also where it comes to nothing. */
  requestSeen(metadata: RequestMetadata): void
  /** A call begins; a booked one is made when its request was answered long ago. */
  call(metadata: RequestMetadata, reserved: boolean): CallObserver
}

/** Hears of one call: what is tried for it, and once how it ends. */
export type CallObserver = {
  /** Runs while a provider is waited for, over all tries. */
  readonly upstream: Stopwatch
  /** The route is asked. */
  attemptStarted(route: ModelRoute): void
  /** The route is not asked, because it failed too often. */
  routeSkipped(route: ModelRoute): void
  /** What was asked last has failed with this error. */
  attemptFailed(error: unknown): void
  callEnded(outcome: Outcome): void
}
