import { monotonicNow } from '../../lib/time.ts'
import { settlementOf, TokenBucket } from '../../lib/token-bucket.ts'
import type { Limits, LimitValues, OrganizationLimiter, RateLimitStatus } from '../ports/limits.ts'

/**
 * Creates the limits of a process that is alone: they are in memory, and nothing has to be waited for. `now` is milliseconds
 * of a monotonic clock.
 */
export function createMemoryLimits(now = monotonicNow): Limits {
  return { create: (_, limits) => new MemoryLimiter(limits, now) }
}

/** Two token buckets and a number of slots. No other request can come between a check and its debit. */
class MemoryLimiter implements OrganizationLimiter {
  readonly #requests: TokenBucket
  readonly #tokens: TokenBucket
  readonly #now: () => number
  #maxConcurrent: number
  #active = 0
  #queued = 0

  constructor(limits: LimitValues, now: () => number) {
    this.#now = now
    this.#requests = new TokenBucket(limits.requestsPerMinute, now())
    this.#tokens = new TokenBucket(limits.tokensPerMinute, now())
    this.#maxConcurrent = limits.concurrentRequests
  }

  get maxConcurrent(): number {
    return this.#maxConcurrent
  }

  setLimits({ requestsPerMinute, tokensPerMinute, concurrentRequests }: LimitValues): void {
    if (requestsPerMinute !== this.#requests.limit) this.#requests.resize(requestsPerMinute, this.#now())
    if (tokensPerMinute !== this.#tokens.limit) this.#tokens.resize(tokensPerMinute, this.#now())
    this.#maxConcurrent = concurrentRequests
  }

  takeRequest(): number {
    return this.#requests.take(1, this.#now())
  }

  refundRequest(): void {
    this.#requests.charge(-1, this.#now())
  }

  takeTokens(tokens: number): number {
    return this.#tokens.take(tokens, this.#now())
  }

  settleTokens(taken: number, used: number): void {
    this.#tokens.charge(settlementOf(this.#tokens.limit, taken, used), this.#now())
  }

  takeSlot(): boolean {
    if (this.#active >= this.#maxConcurrent) return false
    this.#active += 1
    return true
  }

  releaseSlot(): void {
    this.#active -= 1
  }

  takeQueued(limit: number): boolean {
    if (this.#queued >= limit) return false
    this.#queued += 1
    return true
  }

  releaseQueued(): void {
    this.#queued -= 1
  }

  status(): RateLimitStatus {
    const now = this.#now()
    return { requests: this.#requests.status(now), tokens: this.#tokens.status(now) }
  }

  isIdle(): boolean {
    const now = this.#now()
    const taken = this.#active + this.#queued
    return taken === 0 && this.#requests.resetMs(now) === 0 && this.#tokens.resetMs(now) === 0
  }
}
