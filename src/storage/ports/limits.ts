import type { BucketStatus } from '../../lib/token-bucket.ts'

/** The limits of an organization, a project or a key. */
export type LimitValues = {
  readonly requestsPerMinute: number
  readonly tokensPerMinute: number
  readonly concurrentRequests: number
}

/** How much of its limits an organization has left. */
export type RateLimitStatus = { readonly requests: BucketStatus; readonly tokens: BucketStatus }

/** The limits of organizations, projects and keys, for all processes that use the database. */
export type Limits = {
  /** Creates the limiter of an owner, of which a process has one. */
  create(owner: string, limits: LimitValues): OrganizationLimiter
}

/**
 * The limiter of one organization, project or key. What it has at hand it takes at once; a promise asks the database, and rejects with 503 if
 * that is unavailable.
 */
export type OrganizationLimiter = {
  /** The number of calls that may be in progress. */
  readonly maxConcurrent: number
  /** Changes the limits; what was spent stays spent. */
  setLimits(limits: LimitValues): void
  /**
   * Counts a request. Returns 0, or takes nothing and returns the milliseconds until it can be repeated. What a request
   * that `opensCall` is about to take is asked for at the same time.
   */
  takeRequest(opensCall: boolean): number | Promise<number>
  /** Gives a counted request back: another of its limits has rejected it. */
  refundRequest(): void
  /** Takes tokens; returns the same. */
  takeTokens(tokens: number): number | Promise<number>
  /** Debits the tokens used beyond those that were taken, or refunds the rest. */
  settleTokens(taken: number, used: number): void
  /** Takes a concurrency slot; returns false if none is free. */
  takeSlot(): boolean | Promise<boolean>
  releaseSlot(): void
  /** Takes a slot for a queued run; returns false if as many as `limit` are taken. */
  takeQueued(limit: number): boolean | Promise<boolean>
  releaseQueued(): void
  status(): RateLimitStatus
  /** Whether nothing is lost if it is replaced by a new one. */
  isIdle(): boolean
}
