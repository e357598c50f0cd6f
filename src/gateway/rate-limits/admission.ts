import type { Organization } from '../../domain/accounting/organization.ts'
import { rateLimited } from '../../lib/errors/http-errors.ts'
import type { MemoryBudget, MemoryLease } from '../../lib/memory-budget.ts'
import type { RateLimitStatus } from '../../storage/ports/limits.ts'
import type { CallerLimits } from '../access/caller-limits.ts'
import { isOrganizationFull, rejectingPart, type RequestLimiter } from './shared-limiter.ts'

/** Who sends a request: its organization, and the project and the keys that have rate limits of their own. */
export type Limited = {
  readonly organization: Organization
  readonly limits: Pick<CallerLimits, 'rateLimited'>
}

/** The resources that all admissions share. */
export type AdmissionResources = {
  /** Called each time, because an idle limiter may be evicted while a body is read. */
  limiterOf(limited: Limited): RequestLimiter
  readonly memory: MemoryBudget
}

/**
 * A request that has passed the request rate limit. What it takes from a limit is there at once, or comes as a promise if
 * it has to be asked for in the database that processes share.
 */
export class Admission {
  /** The memory that the request holds. A call that begins releases it at its end. */
  readonly memory: MemoryLease
  readonly #limited: Limited
  readonly #resources: AdmissionResources
  /** The limiter whose slot the request holds. */
  #slot: RequestLimiter | undefined
  #detached = false
  #recorded = false

  constructor(limited: Limited, resources: AdmissionResources) {
    this.#limited = limited
    this.#resources = resources
    this.memory = resources.memory.lease(limited.organization.id)
  }

  /** Takes a concurrency slot, which the call then uses, or throws the 429. Does nothing if the request has one. */
  acquireSlot(): void | Promise<void> {
    if (this.#slot) return undefined
    const limiter = this.#limiter
    const acquired = this.#takeSlot(limiter)
    if (acquired instanceof Promise) return acquired.then((acquired) => requireSlot(acquired, limiter))
    return requireSlot(acquired, limiter)
  }

  /** The same; returns false if no slot is free. */
  tryAcquireSlot(): boolean | Promise<boolean> {
    return this.#slot ? true : this.#takeSlot(this.#limiter)
  }

  #takeSlot(limiter: RequestLimiter): boolean | Promise<boolean> {
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
    const limiter = this.#limiter
    const waitMs = limiter.takeTokens(tokens)
    if (waitMs instanceof Promise) return waitMs.then((waitMs) => this.#queued(tokens, waitMs, limiter))
    return this.#queued(tokens, waitMs, limiter)
  }

  /** Releases the slot and the memory, unless a call or a response has taken them over. */
  release(): void {
    this.#freeSlot()
    if (!this.#detached) this.memory.release()
  }

  /** Holds the bytes of a reply. It releases the lease once it is sent, also where a call has taken over the memory. */
  holdReply(bytes: number): MemoryLease {
    this.memory.hold(Math.max(0, bytes - this.memory.held))
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

  /** The current rate limit status: of the tightest limits that apply. */
  status(): RateLimitStatus {
    return this.#limiter.status()
  }

  get #limiter(): RequestLimiter {
    return this.#resources.limiterOf(this.#limited)
  }

  #holdSlot(limiter: RequestLimiter, taken: boolean): boolean {
    if (taken) this.#slot = limiter
    return taken
  }

  #freeSlot(): void {
    this.#slot?.releaseSlot()
    this.#slot = undefined
  }

  #openWithSlot(tokens: number): ConcurrencySlot | Promise<ConcurrencySlot> {
    const limiter = this.#slot ?? this.#limiter
    const waitMs = limiter.takeTokens(tokens)
    if (!(waitMs instanceof Promise)) return this.#opened(tokens, waitMs, limiter)
    return waitMs.then(
      (waitMs) => this.#opened(tokens, waitMs, limiter),
      (error) => {
        this.#freeSlot()
        throw error
      },
    )
  }

  #opened(tokens: number, waitMs: number, limiter: RequestLimiter): ConcurrencySlot {
    if (waitMs > 0) {
      this.#freeSlot()
      throw limitExceeded('tokens', limiter, waitMs)
    }
    this.#slot = undefined
    this.#recorded = true
    return new ConcurrencySlot(limiter, tokens, this.detachMemory())
  }

  #queued(tokens: number, waitMs: number, limiter: RequestLimiter): QueuedSlot {
    if (waitMs > 0) throw limitExceeded('tokens', limiter, waitMs)
    this.#recorded = true
    return new QueuedSlot(this.#limited, this.#resources, tokens)
  }
}

/** A reserved call that has its tokens and waits for a slot. */
export class QueuedSlot {
  readonly #limited: Limited
  readonly #resources: AdmissionResources
  readonly #tokens: number
  #waitsForOrganization = true

  constructor(limited: Limited, resources: AdmissionResources, tokens: number) {
    this.#limited = limited
    this.#resources = resources
    this.#tokens = tokens
  }

  /** Takes a concurrency slot; undefined while none is free. */
  start(): ConcurrencySlot | undefined | Promise<ConcurrencySlot | undefined> {
    const limiter = this.#resources.limiterOf(this.#limited)
    this.#waitsForOrganization = true
    const taken = limiter.takeSlot()
    if (taken instanceof Promise) return taken.then((taken) => this.#started(limiter, taken))
    return this.#started(limiter, taken)
  }

  /** Whether the organization had no slot at the last attempt; otherwise only the key or its project had none. */
  get waitsForOrganization(): boolean {
    return this.#waitsForOrganization
  }

  /** Returns the tokens: the call will not run. */
  release(): void {
    this.#resources.limiterOf(this.#limited).settleTokens(this.#tokens, 0)
  }

  #started(limiter: RequestLimiter, taken: boolean): ConcurrencySlot | undefined {
    this.#waitsForOrganization = isOrganizationFull(limiter)
    if (!taken) return undefined
    const { organization } = this.#limited
    return new ConcurrencySlot(limiter, this.#tokens, this.#resources.memory.lease(organization.id))
  }
}

/** A concurrency slot and the tokens of a call, taken until the call ends. */
export class ConcurrencySlot {
  /** The memory of the call, released with the slot. */
  readonly memory: MemoryLease
  readonly #limiter: RequestLimiter
  readonly #tokens: number
  #released = false

  constructor(limiter: RequestLimiter, tokens: number, memory: MemoryLease) {
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

/** 429: a bucket that has rejected the request has too little, and for `waitMs` will not have enough. */
export function limitExceeded(type: keyof RateLimitStatus, rejecting: RequestLimiter, waitMs: number): Error {
  const { title, limiter } = rejectingPart(rejecting)
  const { limit } = limiter.status()[type]
  const reached = `Rate limit exceeded: too many ${type} per minute for ${title} (limit: ${limit}).`
  return rateLimited(type, `${reached} Try again in ${waitMs / 1000} seconds.`, waitMs)
}

/** Throws the 429 if the slot was not acquired, because all are taken. */
function requireSlot(acquired: boolean, rejecting: RequestLimiter): void {
  if (acquired) return
  const { title, limiter } = rejectingPart(rejecting)
  const message = `Rate limit exceeded: too many concurrent requests for ${title} (limit: ${limiter.maxConcurrent}). Try again when one has finished.`
  throw rateLimited('requests', message, 1000)
}
