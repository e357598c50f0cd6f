import type { Organization } from '../../domain/accounting/organization.ts'
import { rateLimited } from '../../lib/errors/http-errors.ts'
import type { MemoryBudget, MemoryLease } from '../../lib/memory-budget.ts'
import type { OrganizationLimiter, RateLimitStatus } from '../../storage/ports/limits.ts'

/** The resources that all admissions share. */
export type AdmissionResources = {
  /** Called each time, because an idle limiter may be evicted while a body is read. */
  limiterOf(organization: Organization): OrganizationLimiter
  readonly memory: MemoryBudget
}

/**
 * A request that has passed the request rate limit. What it takes from a limit is there at once, or comes as a promise if
 * it has to be asked for in the database that processes share.
 */
export class Admission {
  /** The memory that the request holds. A call that begins releases it at its end. */
  readonly memory: MemoryLease
  readonly #organization: Organization
  readonly #resources: AdmissionResources
  /** The limiter whose slot the request holds. */
  #slot: OrganizationLimiter | undefined
  #detached = false
  #recorded = false

  constructor(organization: Organization, resources: AdmissionResources) {
    this.#organization = organization
    this.#resources = resources
    this.memory = resources.memory.lease(organization.id)
  }

  /** Takes a concurrency slot, which the call then uses, or throws the 429. Does nothing if the request has one. */
  acquireSlot(): void | Promise<void> {
    const acquired = this.tryAcquireSlot()
    if (acquired instanceof Promise) return acquired.then((acquired) => this.#requireSlot(acquired))
    return this.#requireSlot(acquired)
  }

  /** The same; returns false if no slot is free. */
  tryAcquireSlot(): boolean | Promise<boolean> {
    if (this.#slot) return true
    const limiter = this.#limiter
    const taken = limiter.takeSlot()
    if (taken instanceof Promise) return taken.then((taken) => this.#holdSlot(limiter, taken))
    return this.#holdSlot(limiter, taken)
  }

  /** Takes a concurrency slot and about so many tokens, or throws the 429. */
  open(tokens: number): ConcurrencySlot | Promise<ConcurrencySlot> {
    const acquired = this.acquireSlot()
    if (acquired instanceof Promise) return acquired.then(() => this.#openWithSlot(tokens))
    return this.#openWithSlot(tokens)
  }

  /** Takes about so many tokens for a call that runs later, or throws the 429. */
  queue(tokens: number): QueuedSlot | Promise<QueuedSlot> {
    const waitMs = this.#limiter.takeTokens(tokens)
    if (waitMs instanceof Promise) return waitMs.then((waitMs) => this.#queued(tokens, waitMs))
    return this.#queued(tokens, waitMs)
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
    return this.#limiter.status()
  }

  get #limiter(): OrganizationLimiter {
    return this.#resources.limiterOf(this.#organization)
  }

  #requireSlot(acquired: boolean): void {
    if (!acquired) throw tooManyConcurrent(this.#limiter.maxConcurrent)
  }

  #holdSlot(limiter: OrganizationLimiter, taken: boolean): boolean {
    if (taken) this.#slot = limiter
    return taken
  }

  #freeSlot(): void {
    this.#slot?.releaseSlot()
    this.#slot = undefined
  }

  #openWithSlot(tokens: number): ConcurrencySlot | Promise<ConcurrencySlot> {
    const waitMs = this.#limiter.takeTokens(tokens)
    if (!(waitMs instanceof Promise)) return this.#opened(tokens, waitMs)
    return waitMs.then(
      (waitMs) => this.#opened(tokens, waitMs),
      (error) => {
        this.#freeSlot()
        throw error
      },
    )
  }

  #opened(tokens: number, waitMs: number): ConcurrencySlot {
    const limiter = this.#slot ?? this.#limiter
    if (waitMs > 0) {
      this.#freeSlot()
      throw limitExceeded('tokens', limiter.status(), waitMs)
    }
    this.#slot = undefined
    this.#recorded = true
    return new ConcurrencySlot(limiter, tokens, this.detachMemory())
  }

  #queued(tokens: number, waitMs: number): QueuedSlot {
    if (waitMs > 0) throw limitExceeded('tokens', this.status(), waitMs)
    this.#recorded = true
    return new QueuedSlot(this.#organization, this.#resources, tokens)
  }
}

/** A reserved call that has its tokens and waits for a slot. */
export class QueuedSlot {
  readonly #organization: Organization
  readonly #resources: AdmissionResources
  readonly #tokens: number

  constructor(organization: Organization, resources: AdmissionResources, tokens: number) {
    this.#organization = organization
    this.#resources = resources
    this.#tokens = tokens
  }

  /** Takes a concurrency slot; undefined while the organization has none that is free. */
  start(): ConcurrencySlot | undefined | Promise<ConcurrencySlot | undefined> {
    const limiter = this.#resources.limiterOf(this.#organization)
    const taken = limiter.takeSlot()
    if (taken instanceof Promise) return taken.then((taken) => this.#started(limiter, taken))
    return this.#started(limiter, taken)
  }

  /** Returns the tokens: the call will not run. */
  release(): void {
    this.#resources.limiterOf(this.#organization).settleTokens(this.#tokens, 0)
  }

  #started(limiter: OrganizationLimiter, taken: boolean): ConcurrencySlot | undefined {
    if (!taken) return undefined
    return new ConcurrencySlot(limiter, this.#tokens, this.#resources.memory.lease(this.#organization.id))
  }
}

/** A concurrency slot and the tokens of a call, taken until the call ends. */
export class ConcurrencySlot {
  /** The memory of the call, released with the slot. */
  readonly memory: MemoryLease
  readonly #limiter: OrganizationLimiter
  readonly #tokens: number
  #released = false

  constructor(limiter: OrganizationLimiter, tokens: number, memory: MemoryLease) {
    this.#limiter = limiter
    this.#tokens = tokens
    this.memory = memory
  }

  /** Frees the slot and the memory, and corrects the tokens to those that were used. Does nothing the second time. */
  release(usedTokens: number): void {
    if (this.#released) return
    this.#released = true
    this.#limiter.releaseSlot()
    this.#limiter.settleTokens(this.#tokens, usedTokens)
    this.memory.release()
  }
}

/** 429: the bucket of the organization has too little for the request, and for `waitMs` will not have enough. */
export function limitExceeded(type: keyof RateLimitStatus, status: RateLimitStatus, waitMs: number): Error {
  const { limit } = status[type]
  const reached = `Rate limit exceeded: too many ${type} per minute for the organization (limit: ${limit}).`
  return rateLimited(type, `${reached} Try again in ${waitMs / 1000} seconds.`, waitMs)
}

/** 429: all concurrency slots of the organization are taken. */
function tooManyConcurrent(limit: number): Error {
  const message = `Rate limit exceeded: too many concurrent requests for the organization (limit: ${limit}). Try again when one has finished.`
  return rateLimited('requests', message, 1000)
}
