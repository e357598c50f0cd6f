import type { Organization } from '../../domain/accounting/organization.ts'
import type { MemoryBudget } from '../../lib/memory-budget.ts'
import { type Admission, ConcurrencySlot, type QueuedSlot } from './admission.ts'
import { AdmittedRequest } from './admitted-request.ts'
import type { OrganizationLimiter, RateLimitStatus } from './organization-limiter.ts'

/** The limiters of all organizations. `now` is milliseconds of a monotonic clock. */
export type OrganizationLimiters = {
  readonly memory: MemoryBudget
  limiterOf(organization: Organization): OrganizationLimiter
  now(): number
  size(): number
}

/**
 * An admission of a process that is alone. It looks up its limiter each time: while a body was read, an idle limiter may
 * have been evicted.
 */
export class LocalAdmission extends AdmittedRequest implements Admission {
  readonly #organization: Organization
  readonly #limiters: OrganizationLimiters
  #slot: OrganizationLimiter | undefined

  constructor(organization: Organization, limiters: OrganizationLimiters) {
    super(limiters.memory.lease(organization.id))
    this.#organization = organization
    this.#limiters = limiters
  }

  acquireSlot(): void {
    this.#acquire()
  }

  tryAcquireSlot(): boolean {
    const limiter = this.#limiters.limiterOf(this.#organization)
    if (this.#slot === undefined && limiter.tryAcquireSlot()) this.#slot = limiter
    return this.#slot !== undefined
  }

  open(tokens: number): ConcurrencySlot {
    const limiter = this.#acquire()
    try {
      limiter.takeTokens(tokens, this.#limiters.now())
    } catch (error) {
      this.freeSlot()
      throw error
    }
    this.markRecorded()
    this.#slot = undefined
    return new ConcurrencySlot(limiter, this.#limiters.now, tokens, this.detachMemory())
  }

  queue(tokens: number): LocalQueuedSlot {
    this.#limiters.limiterOf(this.#organization).takeTokens(tokens, this.#limiters.now())
    this.markRecorded()
    return new LocalQueuedSlot(this.#organization, this.#limiters, tokens)
  }

  status(): RateLimitStatus {
    return this.#limiters.limiterOf(this.#organization).status(this.#limiters.now())
  }

  protected freeSlot(): void {
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

/** A queued slot of a process that is alone. */
export class LocalQueuedSlot implements QueuedSlot {
  readonly #organization: Organization
  readonly #limiters: OrganizationLimiters
  readonly #tokens: number

  constructor(organization: Organization, limiters: OrganizationLimiters, tokens: number) {
    this.#organization = organization
    this.#limiters = limiters
    this.#tokens = tokens
  }

  start(): ConcurrencySlot | undefined {
    const { limiterOf, now, memory } = this.#limiters
    const { id } = this.#organization
    const limiter = limiterOf(this.#organization)
    return limiter.tryAcquireSlot()
      ? new ConcurrencySlot(limiter, now, this.#tokens, memory.lease(id))
      : undefined
  }

  release(): void {
    this.#limiters.limiterOf(this.#organization).refundTokens(this.#tokens, this.#limiters.now())
  }
}
