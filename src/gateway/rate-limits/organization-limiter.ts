import { TokenBucket } from './token-bucket.ts'
import { rateLimited } from '../../lib/errors/errors.ts'

/** What an organization may use. */
export type LimitValues = {
  readonly requestsPerMinute: number
  readonly tokensPerMinute: number
  readonly concurrentRequests: number
}

/** How much of its limits an organization has left. */
export type RateLimitStatus = { readonly requests: BucketStatus; readonly tokens: BucketStatus }

/** `untilFull` is milliseconds. */
export type BucketStatus = { readonly limit: number; readonly remaining: number; readonly untilFull: number }

/**
 * What one organization has left of its limits. `now` is milliseconds of a steady clock. Nothing here waits:
 * between the look and the debit no other request can come.
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

  /** Puts other limits in force, which gives nothing back of what was spent. */
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

  /** Takes a place among the open calls, or throws the 429. */
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

  /** Takes a place among the open calls; false where none is free. */
  tryAcquireSlot(): boolean {
    if (this.#active >= this.#maxConcurrent) return false
    this.#active += 1
    return true
  }

  /** Frees the place, and debits what was used beyond the tokens that were taken, or gives back the rest. */
  settleCall(reserved: number, used: number, now: number): void {
    this.releaseSlot()
    this.#tokens.charge(used - Math.min(reserved, Math.max(used, this.#debitOf(reserved))), now)
  }

  /** What was debited of tokens that were taken: a debt is a minute at most. */
  #debitOf(reserved: number): number {
    return Math.min(reserved, 2 * this.#tokens.limit)
  }

  releaseSlot(): void {
    this.#active -= 1
  }

  status(now: number): RateLimitStatus {
    return { requests: statusOf(this.#requests, now), tokens: statusOf(this.#tokens, now) }
  }

  /** True where nothing would be lost if this was forgotten: all is full, and no call is open. */
  isIdle(now: number): boolean {
    return this.#active === 0 && this.#requests.resetMs(now) === 0 && this.#tokens.resetMs(now) === 0
  }
}

function statusOf(bucket: TokenBucket, now: number): BucketStatus {
  return { limit: bucket.limit, remaining: bucket.remaining(now), untilFull: bucket.resetMs(now) }
}

function limitExceeded(type: 'requests' | 'tokens', limit: number, waitMs: number): Error {
  const reached = `The organization has reached its limit of ${type} per minute, ${limit}.`
  return rateLimited(type, `${reached} Try again in ${waitMs / 1000} seconds.`, waitMs)
}

function tooManyConcurrent(limit: number): Error {
  const message = `The organization has reached its limit of requests at once, ${limit}. Try again when one has ended.`
  return rateLimited('requests', message, 1000)
}
