import type { Log } from '../lib/log.ts'
import type { Billing } from './billing/billing.ts'
import type { RouteSpeeds } from './billing/unfinished-answer.ts'
import type { NetworkOverrides } from '../lib/pinned-fetch.ts'
import type { Observer } from './observer.ts'
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
