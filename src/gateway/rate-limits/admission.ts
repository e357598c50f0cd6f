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
  of(organization: Organization): OrganizationLimiter
  now(): number
  size(): number
}

/** Looks the allowance up each time: while a body was read, it may have been idle, and forgotten. */
export class RequestAdmission implements Admission {
  readonly #organization: Organization
  readonly memory: MemoryLease
  readonly #allowances: OrganizationLimiters
  #slot: OrganizationLimiter | undefined
  #detached = false
  #opened = false

  constructor(organization: Organization, allowances: OrganizationLimiters) {
    this.#organization = organization
    this.#allowances = allowances
    this.memory = allowances.memory.lease(organization.id)
  }

  takeSlot(): void {
    this.#slotOf()
  }

  tryTakeSlot(): boolean {
    const allowance = this.#allowances.of(this.#organization)
    if (this.#slot === undefined && allowance.takePlace()) this.#slot = allowance
    return this.#slot !== undefined
  }

  open(tokens: number): ConcurrencySlot {
    const allowance = this.#slotOf()
    try {
      allowance.takeTokens(tokens, this.#allowances.now())
    } catch (error) {
      this.#freeSlot()
      throw error
    }
    this.#opened = true
    this.#slot = undefined
    return new HeldSlot(allowance, this.#allowances.now, tokens, this.detachMemory())
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
    this.#allowances.of(this.#organization).takeTokens(tokens, this.#allowances.now())
    this.#opened = true
    return new TokenReservation(this.#organization, this.#allowances, tokens)
  }

  enter(): void {
    this.#opened = true
  }

  opened(): boolean {
    return this.#opened
  }

  status(): RateLimitStatus {
    return this.#allowances.of(this.#organization).status(this.#allowances.now())
  }

  #freeSlot(): void {
    this.#slot?.freePlace()
    this.#slot = undefined
  }

  #slotOf(): OrganizationLimiter {
    if (this.#slot) return this.#slot
    const allowance = this.#allowances.of(this.#organization)
    allowance.occupy()
    this.#slot = allowance
    return allowance
  }
}

/** The tokens of a call that is to be made later. */
export class TokenReservation implements QueuedSlot {
  readonly #organization: Organization
  readonly #allowances: OrganizationLimiters
  readonly #tokens: number

  constructor(organization: Organization, allowances: OrganizationLimiters, tokens: number) {
    this.#organization = organization
    this.#allowances = allowances
    this.#tokens = tokens
  }

  start(): ConcurrencySlot | undefined {
    const { of, now, memory } = this.#allowances
    const { id } = this.#organization
    const allowance = of(this.#organization)
    return allowance.takePlace() ? new HeldSlot(allowance, now, this.#tokens, memory.lease(id)) : undefined
  }

  drop(): void {
    this.#allowances.of(this.#organization).giveBackTokens(this.#tokens, this.#allowances.now())
  }
}

class HeldSlot implements ConcurrencySlot {
  readonly memory: MemoryLease
  readonly #allowance: OrganizationLimiter
  readonly #clock: () => number
  readonly #tokens: number
  #closed = false

  constructor(allowance: OrganizationLimiter, clock: () => number, tokens: number, memory: MemoryLease) {
    this.#allowance = allowance
    this.#clock = clock
    this.#tokens = tokens
    this.memory = memory
  }

  close(used: number): void {
    if (this.#closed) return
    this.#closed = true
    this.#allowance.closeCall(this.#tokens, used, this.#clock())
    this.memory.release()
  }
}
