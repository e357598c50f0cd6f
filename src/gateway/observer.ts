import type { Stopwatch } from '../lib/stopwatch.ts'
import type { RequestMetadata } from '../domain/accounting/request-metadata.ts'
import type { Outcome } from '../domain/accounting/outcome.ts'
import type { ModelRoute } from './models/model.ts'

/**
 * Observes the requests to models, for metrics, traces and the request log. It never throws and decides
 * nothing.
 */
export type Observer = {
  /** A request for a model was received, also if it is rejected. */
  requestReceived(metadata: RequestMetadata): void
  /** A call begins. A `reserved` call runs after its request was answered. */
  call(metadata: RequestMetadata, reserved: boolean): CallObserver
}

/** Observes one call: its attempts, and once its end. */
export type CallObserver = {
  /** Runs while the call waits for a provider, over all attempts. */
  readonly upstreamStopwatch: Stopwatch
  /** A request to the route begins. */
  attemptStarted(route: ModelRoute): void
  /** The route is skipped because its circuit is open. */
  routeSkipped(route: ModelRoute): void
  /** The last attempt has failed with this error. */
  attemptFailed(error: unknown): void
  /** The caller is about to receive the first events. */
  firstEvents(): void
  callEnded(outcome: Outcome): void
}
