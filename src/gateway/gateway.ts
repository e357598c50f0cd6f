import type { BillingMode } from '../domain/accounting/organization.ts'
import type { RequestMetadata } from '../domain/accounting/request-metadata.ts'
import type { GenerationEvent } from '../domain/generation/events.ts'
import type { Generation } from '../domain/generation/request.ts'
import type { AbortLike } from '../lib/abort.ts'
import type { Log } from '../lib/log.ts'
import type { PushStream } from '../lib/push-stream.ts'
import type { Write } from '../storage/ports/writes.ts'
import type { Billing } from './billing/billing.ts'
import type { MeteredUsage } from './billing/meter.ts'
import type { Nanos } from './billing/price.ts'
import type { NetworkOverrides } from './images/pinned-fetch.ts'
import type { Model } from './models/model.ts'
import type { Observer } from './observer.ts'
import type { OpenCalls } from './open-calls.ts'
import type { ProviderStates } from './provider-states.ts'
import type { Admission, ConcurrencySlot, QueuedSlot } from './rate-limits/admission.ts'
import type { CircuitBreaker } from './routing/circuit-breaker.ts'

/** What the features ask: one question in, one stream of events out. */
export type Gateway = {
  generate(question: GenerateRequest): Promise<GenerationStream>
  /**
   * Reserves what a later call needs of the limits and the balance, and executes the writes in the same transaction.
   * Throws what `generate` would.
   */
  reserve(booking: ReservationRequest, writes: readonly Write[]): Promise<QueuedSlot>
  /** Settles a reserved call that will not be made, with the writes. Resolves when both are written, however late. */
  settleUnsent(metadata: RequestMetadata, error: unknown, writes: readonly Write[]): Promise<void>
  /** Enters a request that came to nothing before there was a question. */
  recordRejected(facts: RequestMetadata, error: unknown): Promise<void>
}

/** An answer that has begun: batches of events. */
export type GenerationStream = PushStream<readonly GenerationEvent[]> & {
  /** The name of the provider that gives it. */
  readonly provider: string
  /** What the provider could not be told, a sentence each. */
  readonly warnings: readonly string[]
  /** What has been used up to now. */
  usage(): MeteredUsage
  /** The price of that; undefined for a model without a price. */
  cost(): Nanos | undefined
}

/** What a question takes of limits and money. */
export type ReservationRequest = {
  readonly facts: RequestMetadata
  readonly billing: BillingMode
  /** What lets the call out: it is opened before the first try, and closed however the call ends. */
  readonly admission: Pick<Admission, 'open' | 'queue'>
  /** The model that serves it: for a fast variant, not the one that the caller named. */
  readonly model: Model
  readonly generation: Generation
}

/** A question of an organization to a model. */
export type GenerateRequest = ReservationRequest & {
  readonly stream: boolean
  /** What a booked call has taken already: it is closed, and nothing more is taken. */
  readonly reserved?: ConcurrencySlot
  /**
   * Called once at the end of the call, after the last event was taken, with the error if it failed. Returns the writes
   * of the transaction that settles the call.
   */
  readonly onSettled?: (error: unknown, used: MeteredUsage) => readonly Write[]
  /** Fires when the caller leaves. */
  readonly signal: AbortLike
}

/** What the gateway works with. */
export type GatewayParts = {
  readonly breaker: CircuitBreaker
  readonly billing: Billing
  readonly calls: OpenCalls
  /** Further tries on each route. */
  readonly retries: number
  readonly states: ProviderStates
  /** Milliseconds for which an accepted stream may be silent before it is handed over all the same. */
  readonly patience: number
  /** Where images are fetched; the internet unless a test says otherwise. */
  readonly images?: NetworkOverrides
  readonly observer?: Observer
  readonly log: Log
}
