import { Bucket } from './token-bucket.ts'
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
  readonly #requests: Bucket
  readonly #tokens: Bucket
  #mostOpen: number
  #open = 0

  constructor(limits: LimitValues, now: number) {
    this.#requests = new Bucket(limits.requestsPerMinute, now)
    this.#tokens = new Bucket(limits.tokensPerMinute, now)
    this.#mostOpen = limits.concurrentRequests
  }

  /** Puts other limits in force, which gives nothing back of what was spent. */
  adopt(limits: LimitValues, now: number): void {
    this.#requests.resize(limits.requestsPerMinute, now)
    this.#tokens.resize(limits.tokensPerMinute, now)
    this.#mostOpen = limits.concurrentRequests
  }

  /** Counts a request, or throws the 429. */
  takeRequest(now: number): void {
    const wait = this.#requests.take(1, now)
    if (wait > 0) throw exhausted('requests', this.#requests.limit, wait)
  }

  /** Takes a place among the open calls, or throws the 429. */
  occupy(): void {
    if (!this.takePlace()) throw tooManyOpen(this.#mostOpen)
  }

  /** Takes tokens, or throws the 429. */
  takeTokens(tokens: number, now: number): void {
    const wait = this.#tokens.take(tokens, now)
    if (wait > 0) throw exhausted('tokens', this.#tokens.limit, wait)
  }

  giveBackTokens(tokens: number, now: number): void {
    this.#tokens.charge(-this.#debited(tokens), now)
  }

  /** Takes a place among the open calls; false where none is free. */
  takePlace(): boolean {
    if (this.#open >= this.#mostOpen) return false
    this.#open += 1
    return true
  }

  /** Frees the place, and debits what was used beyond the tokens that were taken, or gives back the rest. */
  closeCall(taken: number, used: number, now: number): void {
    this.freePlace()
    this.#tokens.charge(used - Math.min(taken, Math.max(used, this.#debited(taken))), now)
  }

  /** What was debited of tokens that were taken: a debt is a minute at most. */
  #debited(taken: number): number {
    return Math.min(taken, 2 * this.#tokens.limit)
  }

  freePlace(): void {
    this.#open -= 1
  }

  status(now: number): RateLimitStatus {
    return { requests: levelOf(this.#requests, now), tokens: levelOf(this.#tokens, now) }
  }

  /** True where nothing would be lost if this was forgotten: all is full, and no call is open. */
  idle(now: number): boolean {
    return this.#open === 0 && this.#requests.untilFull(now) === 0 && this.#tokens.untilFull(now) === 0
  }
}

function levelOf(bucket: Bucket, now: number): BucketStatus {
  return { limit: bucket.limit, remaining: bucket.remaining(now), untilFull: bucket.untilFull(now) }
}

function exhausted(type: 'requests' | 'tokens', limit: number, wait: number): Error {
  const reached = `The organization has reached its limit of ${type} per minute, ${limit}.`
  return rateLimited(type, `${reached} Try again in ${wait / 1000} seconds.`, wait)
}

function tooManyOpen(limit: number): Error {
  const message = `The organization has reached its limit of requests at once, ${limit}. Try again when one has ended.`
  return rateLimited('requests', message, 1000)
}
