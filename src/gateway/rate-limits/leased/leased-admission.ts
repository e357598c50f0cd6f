import type { Organization } from '../../../domain/accounting/organization.ts'
import type { MemoryBudget } from '../../../lib/memory-budget.ts'
import { type Admission, ConcurrencySlot, type QueuedSlot } from '../admission.ts'
import { AdmittedRequest } from '../admitted-request.ts'
import { tooManyConcurrent } from '../limit-errors.ts'
import type { RateLimitStatus } from '../organization-limiter.ts'
import type { LeasedLimiter } from './leased-limiter.ts'

/** The limiters of all organizations. `now` is milliseconds of a monotonic clock. */
export type LeasedLimiters = {
  readonly memory: MemoryBudget
  limiterOf(organization: Organization): LeasedLimiter
  now(): number
}

/** An admission of a process that shares the limits with others. Like `LocalAdmission`, it looks up its limiter each time. */
export class LeasedAdmission extends AdmittedRequest implements Admission {
  readonly #organization: Organization
  readonly #limiters: LeasedLimiters
  #slot: LeasedLimiter | undefined

  constructor(organization: Organization, limiters: LeasedLimiters) {
    super(limiters.memory.lease(organization.id))
    this.#organization = organization
    this.#limiters = limiters
  }

  acquireSlot(): void | Promise<void> {
    const acquired = this.tryAcquireSlot()
    if (acquired instanceof Promise) return acquired.then((acquired) => this.#requireSlot(acquired))
    return this.#requireSlot(acquired)
  }

  tryAcquireSlot(): boolean | Promise<boolean> {
    if (this.#slot) return true
    const limiter = this.#limiter
    const taken = limiter.takeSlot()
    if (taken instanceof Promise) return taken.then((taken) => this.#hold(limiter, taken))
    return this.#hold(limiter, taken)
  }

  open(tokens: number): ConcurrencySlot | Promise<ConcurrencySlot> {
    const acquired = this.acquireSlot()
    if (acquired instanceof Promise) return acquired.then(() => this.#open(tokens))
    return this.#open(tokens)
  }

  queue(tokens: number): QueuedSlot | Promise<QueuedSlot> {
    const taken = this.#limiter.takeTokens(tokens)
    if (taken instanceof Promise) return taken.then(() => this.#queued(tokens))
    return this.#queued(tokens)
  }

  status(): RateLimitStatus {
    return this.#limiter.status()
  }

  protected freeSlot(): void {
    this.#slot?.releaseSlot()
    this.#slot = undefined
  }

  get #limiter(): LeasedLimiter {
    return this.#limiters.limiterOf(this.#organization)
  }

  #requireSlot(acquired: boolean): void {
    if (!acquired) throw tooManyConcurrent(this.#limiter.maxConcurrent)
  }

  #hold(limiter: LeasedLimiter, taken: boolean): boolean {
    if (taken) this.#slot = limiter
    return taken
  }

  #open(tokens: number): ConcurrencySlot | Promise<ConcurrencySlot> {
    try {
      const taken = this.#limiter.takeTokens(tokens)
      if (!(taken instanceof Promise)) return this.#opened(tokens)
      return taken.then(
        () => this.#opened(tokens),
        (error) => this.#rejectOpen(error),
      )
    } catch (error) {
      return this.#rejectOpen(error)
    }
  }

  #rejectOpen(error: unknown): never {
    this.freeSlot()
    throw error
  }

  #opened(tokens: number): ConcurrencySlot {
    const limiter = this.#slot ?? this.#limiter
    this.#slot = undefined
    this.markRecorded()
    return new ConcurrencySlot(limiter, this.#limiters.now, tokens, this.detachMemory())
  }

  #queued(tokens: number): QueuedSlot {
    this.markRecorded()
    return new LeasedQueuedSlot(this.#organization, this.#limiters, tokens)
  }
}

/** A queued slot of a process that shares the limits with others. */
export class LeasedQueuedSlot implements QueuedSlot {
  readonly #organization: Organization
  readonly #limiters: LeasedLimiters
  readonly #tokens: number

  constructor(organization: Organization, limiters: LeasedLimiters, tokens: number) {
    this.#organization = organization
    this.#limiters = limiters
    this.#tokens = tokens
  }

  start(): ConcurrencySlot | undefined | Promise<ConcurrencySlot | undefined> {
    const limiter = this.#limiters.limiterOf(this.#organization)
    const taken = limiter.takeSlot()
    if (taken instanceof Promise) return taken.then((taken) => this.#started(limiter, taken))
    return this.#started(limiter, taken)
  }

  release(): void {
    this.#limiters.limiterOf(this.#organization).refundTokens(this.#tokens)
  }

  #started(limiter: LeasedLimiter, taken: boolean): ConcurrencySlot | undefined {
    if (!taken) return undefined
    const { memory, now } = this.#limiters
    return new ConcurrencySlot(limiter, now, this.#tokens, memory.lease(this.#organization.id))
  }
}
