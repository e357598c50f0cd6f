import type { Organization } from '../../domain/accounting/organization.ts'
import type { MemoryBudget, MemoryLease } from '../../lib/memory-budget.ts'
import type { OrganizationLimiter, RateLimitStatus } from './organization-limiter.ts'

/** The limiters of all organizations. `now` is milliseconds of a monotonic clock. */
export type OrganizationLimiters = {
  readonly memory: MemoryBudget
  limiterOf(organization: Organization): OrganizationLimiter
  now(): number
  size(): number
}

/**
 * A request that has passed the request rate limit. It looks up its limiter each time: while a body was read, an idle
 * limiter may have been evicted.
 */
export class Admission {
  readonly #organization: Organization
  /** The memory that the request holds. A call that begins releases it at its end. */
  readonly memory: MemoryLease
  readonly #limiters: OrganizationLimiters
  #slot: OrganizationLimiter | undefined
  #detached = false
  #recorded = false

  constructor(organization: Organization, limiters: OrganizationLimiters) {
    this.#organization = organization
    this.#limiters = limiters
    this.memory = limiters.memory.lease(organization.id)
  }

  /**
   * Takes a concurrency slot, which the call then uses, or throws the 429. Does nothing if the request has
   * one.
   */
  acquireSlot(): void {
    this.#acquire()
  }

  /** The same; returns false if no slot is free. */
  tryAcquireSlot(): boolean {
    const limiter = this.#limiters.limiterOf(this.#organization)
    if (this.#slot === undefined && limiter.tryAcquireSlot()) this.#slot = limiter
    return this.#slot !== undefined
  }

  /** Takes a concurrency slot and about so many tokens, or throws the 429. */
  open(tokens: number): ConcurrencySlot {
    const limiter = this.#acquire()
    try {
      limiter.takeTokens(tokens, this.#limiters.now())
    } catch (error) {
      this.#freeSlot()
      throw error
    }
    this.#recorded = true
    this.#slot = undefined
    return new ConcurrencySlot(limiter, this.#limiters.now, tokens, this.detachMemory())
  }

  /** Releases the slot and the memory, unless a call or a response has taken them over. */
  release(): void {
    this.#freeSlot()
    if (!this.#detached) this.memory.release()
  }

  /** Acquires the bytes of a reply. It releases the lease once it is sent, also where a call has taken over the memory. */
  acquireReply(bytes: number): MemoryLease {
    this.memory.acquireUpTo(bytes)
    if (this.#detached) this.memory.retain()
    return this.detachMemory()
  }

  /** Hands the memory over to the response, which releases it once it is sent. */
  detachMemory(): MemoryLease {
    this.#detached = true
    return this.memory
  }

  /** Takes about so many tokens for a call that runs later, or throws the 429. */
  queue(tokens: number): QueuedSlot {
    this.#limiters.limiterOf(this.#organization).takeTokens(tokens, this.#limiters.now())
    this.#recorded = true
    return new QueuedSlot(this.#organization, this.#limiters, tokens)
  }

  /** Marks the request as recorded without a call. */
  markRecorded(): void {
    this.#recorded = true
  }

  /** Whether the request is recorded or its call has begun: from then on it is settled, however it ends. */
  isRecorded(): boolean {
    return this.#recorded
  }

  /** The current rate limit status of the organization. */
  status(): RateLimitStatus {
    return this.#limiters.limiterOf(this.#organization).status(this.#limiters.now())
  }

  #freeSlot(): void {
    this.#slot?.releaseSlot()
    this.#slot = undefined
  }

  #acquire(): OrganizationLimiter {
    if (this.#slot) return this.#slot
    const limiter = this.#limiters.limiterOf(this.#organization)
    limiter.acquireSlot()
    this.#slot = limiter
    return limiter
  }
}

/** A reserved call that has its tokens and waits for a slot. */
export class QueuedSlot {
  readonly #organization: Organization
  readonly #limiters: OrganizationLimiters
  readonly #tokens: number

  constructor(organization: Organization, limiters: OrganizationLimiters, tokens: number) {
    this.#organization = organization
    this.#limiters = limiters
    this.#tokens = tokens
  }

  /** Takes a concurrency slot; undefined while the organization has none that is free. */
  start(): ConcurrencySlot | undefined {
    const { limiterOf, now, memory } = this.#limiters
    const { id } = this.#organization
    const limiter = limiterOf(this.#organization)
    return limiter.tryAcquireSlot()
      ? new ConcurrencySlot(limiter, now, this.#tokens, memory.lease(id))
      : undefined
  }

  /** Returns the tokens: the call will not run. */
  release(): void {
    this.#limiters.limiterOf(this.#organization).refundTokens(this.#tokens, this.#limiters.now())
  }
}

/** A concurrency slot and the tokens of a call, taken until the call ends. */
export class ConcurrencySlot {
  /** The memory of the call, released with the slot. */
  readonly memory: MemoryLease
  readonly #limiter: OrganizationLimiter
  readonly #now: () => number
  readonly #tokens: number
  #released = false

  constructor(limiter: OrganizationLimiter, now: () => number, tokens: number, memory: MemoryLease) {
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
