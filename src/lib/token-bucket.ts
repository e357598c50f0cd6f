/** The time in which an empty bucket fills. */
const minuteMs = 60_000

/** The state of a bucket. */
export type BucketState = {
  readonly limit: number
  /** In units of the bucket; more than the limit of a minute is a debt. */
  readonly spent: number
  /** Up to when it has refilled, in milliseconds of its clock. */
  readonly refilledAt: number
}

/** The level of a bucket, and the milliseconds until it is full. */
export type BucketStatus = { readonly limit: number; readonly remaining: number; readonly resetMs: number }

/**
 * A token bucket: it holds the limit of one minute and refills continuously. `now` is milliseconds of a
 * monotonic clock.
 *
 * It counts in units of a sixty-thousandth, so that each millisecond adds an integer number of them: every
 * sum is exact, and no rounding grants one too many or rejects one too early.
 */
export class TokenBucket {
  #limit: number
  /** In units; more than the capacity is a debt. */
  #spent = 0
  #refilledAt: number

  constructor(limit: number, now: number) {
    this.#limit = Math.min(limit, maxLimit)
    this.#refilledAt = Math.floor(now)
  }

  /** Restores a bucket from its state. */
  static from({ limit, spent, refilledAt }: BucketState): TokenBucket {
    const bucket = new TokenBucket(limit, refilledAt)
    bucket.#spent = spent
    return bucket
  }

  get state(): BucketState {
    return { limit: this.#limit, spent: this.#spent, refilledAt: this.#refilledAt }
  }

  /**
   * Takes the amount and returns 0, or takes nothing and returns the milliseconds until it is available. An
   * amount above the capacity is granted by a full bucket, and leaves a debt of one minute at most.
   */
  take(amount: number, now: number): number {
    const waitMs = this.waitFor(amount, now)
    if (waitMs === 0) this.#spent = this.#clampDebt(this.#spent + toUnits(amount))
    return waitMs
  }

  /**
   * Takes the amount even if it is not available, which leaves a debt of one minute at most. A negative
   * amount is a refund, up to a full bucket.
   */
  charge(amount: number, now: number): void {
    this.#refill(now)
    this.#spent = this.#clampDebt(Math.max(0, this.#spent + toUnits(amount)))
  }

  /**
   * Changes the limit and keeps the time until the bucket is full. Keeping the amount instead would let a
   * raised limit begin with a burst, and lock out for many minutes an organization that has spent more than a
   * lowered limit allows.
   */
  resize(limit: number, now: number): void {
    const next = Math.min(limit, maxLimit)
    if (next === this.#limit) return
    this.#refill(now)
    const spent = (BigInt(this.#spent) * BigInt(next) + BigInt(this.#limit - 1)) / BigInt(this.#limit)
    this.#spent = Math.min(Number(spent), maxUnits)
    this.#limit = next
  }

  get limit(): number {
    return this.#limit
  }

  /** Returns the milliseconds until `take` would take the amount: 0 if it would now. */
  waitFor(amount: number, now: number): number {
    this.#refill(now)
    const missing = Math.min(toUnits(amount), this.#capacity) + this.#spent - this.#capacity
    return missing > 0 ? ceilDivide(missing, this.#limit) : 0
  }

  /** The available amount, rounded down; 0 while the bucket is in debt. */
  remaining(now: number): number {
    this.#refill(now)
    return Math.max(0, Math.floor((this.#capacity - this.#spent) / minuteMs))
  }

  /** Milliseconds until the bucket is full, if nothing more is taken. */
  resetMs(now: number): number {
    this.#refill(now)
    return ceilDivide(this.#spent, this.#limit)
  }

  status(now: number): BucketStatus {
    return { limit: this.#limit, remaining: this.remaining(now), resetMs: this.resetMs(now) }
  }

  get #capacity(): number {
    return this.#limit * minuteMs
  }

  /** Bounds what is spent to twice the capacity. */
  #clampDebt(spent: number): number {
    return Math.min(spent, 2 * this.#capacity, maxUnits)
  }

  #refill(now: number): void {
    const elapsed = Math.floor(now) - this.#refilledAt
    if (elapsed <= 0) return
    // A product that is too large to be exact is more than could be spent.
    this.#spent = Math.max(0, this.#spent - elapsed * this.#limit)
    this.#refilledAt += elapsed
  }
}

/**
 * The amount to charge a bucket of this limit for what was used instead of what was taken. Of an amount beyond the limit only
 * a debt of one minute was taken.
 */
export function settlementOf(limit: number, taken: number, used: number): number {
  return used - Math.min(taken, Math.max(used, Math.min(taken, 2 * limit)))
}

const maxUnits = Number.MAX_SAFE_INTEGER
/** The maximum limit: 150 billion a minute, more than any gateway serves. */
const maxLimit = Math.floor(maxUnits / minuteMs)

function toUnits(amount: number): number {
  return Math.ceil(Math.min(amount, maxLimit) * minuteMs)
}

/** Rounded up. By the remainder, because the quotient of large numbers is itself rounded. */
function ceilDivide(dividend: number, divisor: number): number {
  const rest = dividend % divisor
  return (dividend - rest) / divisor + (rest > 0 ? 1 : 0)
}
