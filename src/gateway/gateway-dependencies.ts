import type { Outcome, RequestMetadata } from '../domain/accounting/request-metadata.ts'
import type { Log } from '../lib/log.ts'
import type { Stopwatch } from '../lib/time.ts'
import type { Billing } from './billing/billing.ts'
import type { RouteSpeeds } from './billing/unfinished-answer.ts'
import type { NetworkOverrides } from '../lib/pinned-fetch.ts'
import type { ModelRoute } from './models/model.ts'
import type { OpenCalls } from './open-calls.ts'
import type { ProviderStates } from './provider-states.ts'
import type { ReplySizes } from './reply-room.ts'
import type { CircuitBreaker } from './routing/circuit-breaker.ts'
import type { ProviderQueues } from './routing/provider-queue.ts'
import type { SessionRoutes } from './routing/sessions.ts'

/** The dependencies of the gateway. */
export type GatewayDependencies = {
  readonly breaker: CircuitBreaker
  readonly sessions: SessionRoutes
  readonly queues: ProviderQueues
  readonly billing: Billing
  readonly calls: OpenCalls
  /** The number of retries on each route. */
  readonly retries: number
  readonly states: ProviderStates
  readonly replySizes: ReplySizes
  readonly speeds: RouteSpeeds
  /** Milliseconds that an accepted stream may be silent before the caller gets it without its first event. */
  readonly firstEventTimeoutMs: number
  /** Milliseconds for which a complete answer whose caller has left is read on for its usage; default 5,000. */
  readonly usageTimeoutMs?: number | undefined
  /** Where images are fetched: the internet unless a test overrides it. */
  readonly images?: NetworkOverrides
  /** The key of `Gateway.userHash`. */
  readonly userHashKey?: string | undefined
  readonly observer?: Observer
  readonly log: Log
}

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
