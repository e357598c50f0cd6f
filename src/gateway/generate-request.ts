import type { RequestMetadata } from '../domain/accounting/request-metadata.ts'
import type { GenerationEvent } from '../domain/generation/events.ts'
import type { Generation } from '../domain/generation/request.ts'
import type { AbortLike } from '../lib/abort.ts'
import type { PushStream } from '../lib/push-stream.ts'
import type { Nanos } from '../lib/usd.ts'
import type { Write } from '../storage/ports/ledger.ts'
import type { Payer } from './access/caller-limits.ts'
import type { MeteredUsage } from './billing/meter.ts'
import type { RequestObserver } from './observer.ts'
import type { Model } from './models/model.ts'
import type { Admission, ConcurrencySlot } from './rate-limits/admission.ts'

/** The events of a response that has begun, in batches. */
export type GenerationStream = PushStream<readonly GenerationEvent[]> & {
  /** The name of the provider that serves the request. */
  readonly provider: string
  /** The parameters that the provider does not support and that were ignored, a sentence each. */
  readonly warnings: readonly string[]
  /** The usage up to now. */
  usage(): MeteredUsage
  /** The cost of that usage; undefined for a model without a price. */
  cost(): Nanos | undefined
}

/** The properties of a request that limits and billing need. */
export type ReservationRequest = Payer & {
  readonly metadata: RequestMetadata
  /** Absent for a call that runs after its request was answered. */
  readonly observer?: RequestObserver | undefined
  /** The admission of the request; the call takes its tokens from it, and its slot unless it runs later. */
  readonly admission: Pick<Admission, 'memory' | 'open' | 'queue'>
  /** The model that serves the request: for a fast variant, not the one that the caller named. */
  readonly model: Model
  readonly generation: Generation
}

/** Lets the answer to a request start again on another route when it breaks off. */
export type Restart = {
  /** Whether no client has seen anything of the answer. */
  isPossible(): boolean
  /** Discards the answer so far: another one follows, or none. */
  discard(): void
  /** Another route begins to answer. */
  begin(provider: string, warnings: readonly string[]): void
}

/** A request of an organization to a model. */
export type GenerateRequest = ReservationRequest & {
  readonly stream: boolean
  /** The names of the fields of the request, as its caller wrote it: a provider can blame one of them. */
  readonly fields?: readonly string[] | undefined
  /** The warnings that were known before, to be recorded. */
  readonly warnings?: readonly string[]
  /** The body of the request, if its content is kept; a key without a content log has none here. */
  readonly content?: object | undefined
  /** Milliseconds until a route must have sent the first token of a stream, as the caller wants it. */
  readonly firstTokenTimeoutMs?: number | undefined
  /**
   * The slot and tokens of a call that was reserved before: nothing more is taken, and they are released at
   * its end.
   */
  readonly reserved?: ConcurrencySlot
  /**
   * Called once when the call has ended, complete or with an error, after every event was delivered. Returns
   * the writes of the transaction that settles the call.
   */
  readonly onSettled?: (error: unknown, used: MeteredUsage) => readonly Write[]
  /** Where the caller reads the events before its clients do; absent: no answer of which an event was read starts again. */
  readonly restart?: Restart
  /** Called when the call has waited for a provider so long that the gateway should begin the response. */
  readonly onWaiting?: (() => void) | undefined
  /** Aborted when the caller leaves. */
  readonly signal: AbortLike
}
