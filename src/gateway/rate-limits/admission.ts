import type { Organization } from '../../domain/accounting/organization.ts'
import type { MemoryBudget, MemoryLease } from '../../lib/memory-budget.ts'
import type { OrganizationLimiter, RateLimitStatus } from './organization-limiter.ts'

/** A request that was let in. */
export type Admission = {
  /** The bytes that it holds. A call that is opened releases them at its end. */
  readonly memory: MemoryLease
  /** Takes a concurrency slot, which the call then uses, or throws the 429. Taking it again does nothing. */
  takeSlot(): void
  /** The same; false where no slot is free. */
  tryTakeSlot(): boolean
  /** Releases the slot and the bytes, unless a call or a reply has taken them over. */
  release(): void
  /** Whoever sends the reply releases the bytes. */
  detachMemory(): MemoryLease
  /** Takes a place among the open calls, and about so many tokens, or throws the 429. */
  open(tokens: number): ConcurrencySlot
  /** Takes about so many tokens for a call that is to be made later, or throws the 429. */
  queue(tokens: number): QueuedSlot
  /** The request is in the books already, without a call. */
  enter(): void
  /** Whether it has: from then on the call is in the books, however it ends. */
  opened(): boolean
  /** How the organization stands now. */
  status(): RateLimitStatus
}

/** A call that has its tokens, and waits for its place. */
export type QueuedSlot = {
  /** Takes a place among the open calls; undefined while the organization has none that is free. */
  start(): ConcurrencySlot | undefined
  /** Gives the tokens back: the call will not be made. */
  drop(): void
}

/** A call that takes a place until it is closed. */
export type ConcurrencySlot = {
  /** The bytes that it holds until it is closed. */
  readonly memory: MemoryLease
  /** Frees the place and the bytes, and corrects the tokens to those that were used. Closing again does nothing. */
  close(tokens: number): void
}

/** Those of all organizations. `now` is milliseconds of their steady clock. */
export type OrganizationLimiters = {
  readonly memory: MemoryBudget
  limiterOf(organization: Organization): OrganizationLimiter
  now(): number
  size(): number
}

/** Looks the allowance up each time: while a body was read, it may have been idle, and forgotten. */
export class RequestAdmission implements Admission {
  readonly #organization: Organization
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

  takeSlot(): void {
    this.#acquire()
  }

  tryTakeSlot(): boolean {
    const limiter = this.#limiters.limiterOf(this.#organization)
    if (this.#slot === undefined && limiter.tryAcquireSlot()) this.#slot = limiter
    return this.#slot !== undefined
  }

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
    return new HeldSlot(limiter, this.#limiters.now, tokens, this.detachMemory())
  }

  release(): void {
    this.#freeSlot()
    if (!this.#detached) this.memory.release()
  }

  detachMemory(): MemoryLease {
    this.#detached = true
    return this.memory
  }

  queue(tokens: number): QueuedSlot {
    this.#limiters.limiterOf(this.#organization).takeTokens(tokens, this.#limiters.now())
    this.#recorded = true
    return new TokenReservation(this.#organization, this.#limiters, tokens)
  }

  enter(): void {
    this.#recorded = true
  }

  opened(): boolean {
    return this.#recorded
  }

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

/** The tokens of a call that is to be made later. */
export class TokenReservation implements QueuedSlot {
  readonly #organization: Organization
  readonly #limiters: OrganizationLimiters
  readonly #tokens: number

  constructor(organization: Organization, limiters: OrganizationLimiters, tokens: number) {
    this.#organization = organization
    this.#limiters = limiters
    this.#tokens = tokens
  }

  start(): ConcurrencySlot | undefined {
    const { limiterOf: of, now, memory } = this.#limiters
    const { id } = this.#organization
    const limiter = of(this.#organization)
    return limiter.tryAcquireSlot() ? new HeldSlot(limiter, now, this.#tokens, memory.lease(id)) : undefined
  }

  drop(): void {
    this.#limiters.limiterOf(this.#organization).refundTokens(this.#tokens, this.#limiters.now())
  }
}

class HeldSlot implements ConcurrencySlot {
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

  close(usedTokens: number): void {
    if (this.#released) return
    this.#released = true
    this.#limiter.settleCall(this.#tokens, usedTokens, this.#now())
    this.memory.release()
  }
}
