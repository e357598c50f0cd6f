import type { MemoryLease } from '../../lib/memory-budget.ts'
import type { OrganizationLimiter, RateLimitStatus } from './organization-limiter.ts'

/**
 * A request that has passed the request rate limit. What it takes from a limit is there at once, or comes as a promise if
 * it has to be asked for in the store that the processes share.
 */
export type Admission = {
  /** The memory that the request holds. A call that begins releases it at its end. */
  readonly memory: MemoryLease
  /**
   * Takes a concurrency slot, which the call then uses, or throws the 429. Does nothing if the request has
   * one.
   */
  acquireSlot(): void | Promise<void>
  /** The same; returns false if no slot is free. */
  tryAcquireSlot(): boolean | Promise<boolean>
  /** Takes a concurrency slot and about so many tokens, or throws the 429. */
  open(tokens: number): ConcurrencySlot | Promise<ConcurrencySlot>
  /** Takes about so many tokens for a call that runs later, or throws the 429. */
  queue(tokens: number): QueuedSlot | Promise<QueuedSlot>
  /** Releases the slot and the memory, unless a call or a response has taken them over. */
  release(): void
  /** Acquires the bytes of a reply. It releases the lease once it is sent, also where a call has taken over the memory. */
  acquireReply(bytes: number): MemoryLease
  /** Hands the memory over to the response, which releases it once it is sent. */
  detachMemory(): MemoryLease
  /** Marks the request as recorded without a call. */
  markRecorded(): void
  /** Whether the request is recorded or its call has begun: from then on it is settled, however it ends. */
  isRecorded(): boolean
  /** The current rate limit status of the organization. */
  status(): RateLimitStatus
}

/** A reserved call that has its tokens and waits for a slot. */
export type QueuedSlot = {
  /** Takes a concurrency slot; undefined while the organization has none that is free. */
  start(): ConcurrencySlot | undefined | Promise<ConcurrencySlot | undefined>
  /** Returns the tokens: the call will not run. */
  release(): void
}

/** A concurrency slot and the tokens of a call, taken until the call ends. */
export class ConcurrencySlot {
  /** The memory of the call, released with the slot. */
  readonly memory: MemoryLease
  readonly #limiter: Pick<OrganizationLimiter, 'settleCall'>
  readonly #now: () => number
  readonly #tokens: number
  #released = false

  constructor(
    limiter: Pick<OrganizationLimiter, 'settleCall'>,
    now: () => number,
    tokens: number,
    memory: MemoryLease,
  ) {
    this.#limiter = limiter
    this.#now = now
    this.#tokens = tokens
    this.memory = memory
  }

  /**
   * Frees the slot and the memory, and corrects the tokens to those that were used. Does nothing the second
   * time.
   */
  release(usedTokens: number): void {
    if (this.#released) return
    this.#released = true
    this.#limiter.settleCall(this.#tokens, usedTokens, this.#now())
    this.memory.release()
  }
}
