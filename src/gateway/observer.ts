import type { Outcome, RequestMetadata } from '../domain/accounting/request-metadata.ts'
import type { Stopwatch } from '../lib/time.ts'
import type { ModelRoute } from './models/model.ts'

/**
 * Observes the calls whose requests were answered before. Observers are for metrics, traces and the request log: they never
 * throw and decide nothing.
 */
export type Observer = {
  /** A call begins that runs after its request was answered. */
  backgroundCall(metadata: RequestMetadata): CallObserver
}

/** Observes one request to a model, and its call. */
export type RequestObserver = CallObserver & {
  /** The request is known, also if it is rejected. */
  requestReceived(metadata: RequestMetadata): void
  /** Its call begins. */
  callStarted(metadata: RequestMetadata): void
}

/** One call to the provider of a route. */
export type Attempt = {
  readonly route: ModelRoute
  /** In milliseconds of `performance.now()`. */
  readonly startedAt: number
  /** `ok`, or the code of the error; absent while the attempt runs. */
  outcome?: string
  /** The HTTP status of the result. */
  status?: number
  durationMs: number
  /** Milliseconds of the wait for a slot of the provider before the attempt. */
  readonly queuedMs: number
  /** The error message, with quoted text removed. */
  message?: string
  /** The message of the provider, without anything of the request. */
  providerMessage?: string | undefined
}

/** Observes one call: its attempts, and once its end. */
export type CallObserver = {
  /** The attempts up to now. */
  readonly attempts: readonly Attempt[]
  /** Runs while the call waits for a provider, over all attempts. */
  readonly upstreamStopwatch: Stopwatch
  /** A request to the route begins. */
  attemptStarted(route: ModelRoute): void
  /** The route is skipped because its circuit is open. */
  routeSkipped(route: ModelRoute): void
  /** The call waits for a slot of the route, or of another one. */
  queued(route: ModelRoute): void
  /** The wait has ended, with a slot or without. */
  dequeued(): void
  /** The last attempt has failed with this error, unless it has ended before. */
  attemptFailed(error: unknown): void
  /** The caller is about to receive the first events. */
  firstEvents(): void
  /** The last attempt has ended with this outcome. */
  attemptEnded(outcome: Outcome): void
  callEnded(outcome: Outcome): void
}
