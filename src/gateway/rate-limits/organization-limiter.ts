import { TokenBucket } from '../../lib/token-bucket.ts'
import { limitExceeded, tooManyConcurrent } from './limit-errors.ts'

/** The limits of an organization. */
export type LimitValues = {
  readonly requestsPerMinute: number
  readonly tokensPerMinute: number
  readonly concurrentRequests: number
}

/** How much of its limits an organization has left. */
export type RateLimitStatus = { readonly requests: BucketStatus; readonly tokens: BucketStatus }

/** The level of a bucket, and the milliseconds until it is full. */
export type BucketStatus = { readonly limit: number; readonly remaining: number; readonly resetMs: number }

/**
 * The limiter of one organization: two token buckets and a number of slots. `now` is milliseconds of a
 * monotonic clock. Everything is synchronous: no other request can come between the check and the debit.
 */
export class OrganizationLimiter {
  readonly #requests: TokenBucket
  readonly #tokens: TokenBucket
  #maxConcurrent: number
  #active = 0

  constructor(limits: LimitValues, now: number) {
    this.#requests = new TokenBucket(limits.requestsPerMinute, now)
    this.#tokens = new TokenBucket(limits.tokensPerMinute, now)
    this.#maxConcurrent = limits.concurrentRequests
  }

  /** Changes the limits; what was spent stays spent. */
  setLimits(limits: LimitValues, now: number): void {
    this.#requests.resize(limits.requestsPerMinute, now)
    this.#tokens.resize(limits.tokensPerMinute, now)
    this.#maxConcurrent = limits.concurrentRequests
  }

  /** Counts a request, or throws the 429. */
  takeRequest(now: number): void {
    const waitMs = this.#requests.take(1, now)
    if (waitMs > 0) throw limitExceeded('requests', this.#requests.limit, waitMs)
  }

  /** Takes a concurrency slot, or throws the 429. */
  acquireSlot(): void {
    if (!this.tryAcquireSlot()) throw tooManyConcurrent(this.#maxConcurrent)
  }

  /** Takes tokens, or throws the 429. */
  takeTokens(tokens: number, now: number): void {
    const waitMs = this.#tokens.take(tokens, now)
    if (waitMs > 0) throw limitExceeded('tokens', this.#tokens.limit, waitMs)
  }

  refundTokens(tokens: number, now: number): void {
    this.#tokens.charge(-this.#debitOf(tokens), now)
  }

  /** Takes a concurrency slot; returns false if none is free. */
  tryAcquireSlot(): boolean {
    if (this.#active >= this.#maxConcurrent) return false
    this.#active += 1
    return true
  }

  /** Frees the slot, and debits the tokens used beyond the reserved ones, or refunds the rest. */
  settleCall(reserved: number, used: number, now: number): void {
    this.releaseSlot()
    this.#tokens.charge(used - Math.min(reserved, Math.max(used, this.#debitOf(reserved))), now)
  }

  /** The part of the reserved tokens that was debited: a debt is one minute at most. */
  #debitOf(reserved: number): number {
    return Math.min(reserved, 2 * this.#tokens.limit)
  }

  releaseSlot(): void {
    this.#active -= 1
  }

  status(now: number): RateLimitStatus {
    return { requests: statusOf(this.#requests, now), tokens: statusOf(this.#tokens, now) }
  }

  /** True if the limiter can be evicted without loss: both buckets are full, and no slot is taken. */
  isIdle(now: number): boolean {
    return this.#active === 0 && this.#requests.resetMs(now) === 0 && this.#tokens.resetMs(now) === 0
  }
}

function statusOf(bucket: TokenBucket, now: number): BucketStatus {
  return { limit: bucket.limit, remaining: bucket.remaining(now), resetMs: bucket.resetMs(now) }
}
