import type { Log } from '../lib/log.ts'
import type { Billing } from './billing/billing.ts'
import type { RouteSpeeds } from './billing/route-speeds.ts'
import type { NetworkOverrides } from './images/pinned-fetch.ts'
import type { Observer } from './observer.ts'
import type { OpenCalls } from './open-calls.ts'
import type { ProviderStates } from './provider-states.ts'
import type { CircuitBreaker } from './routing/circuit-breaker.ts'

/** The dependencies of the gateway. */
export type GatewayDependencies = {
  readonly breaker: CircuitBreaker
  readonly billing: Billing
  readonly calls: OpenCalls
  /** The number of retries on each route. */
  readonly retries: number
  readonly states: ProviderStates
  readonly speeds: RouteSpeeds
  /** Milliseconds that an accepted stream may be silent before the caller gets it without its first event. */
  readonly firstEventTimeoutMs: number
  /** Milliseconds for which a complete answer whose caller has left is read on for its usage; default 5,000. */
  readonly usageTimeoutMs?: number | undefined
  /** Where images are fetched: the internet unless a test overrides it. */
  readonly images?: NetworkOverrides
  readonly observer?: Observer
  readonly log: Log
}
