/** Milliseconds in which an empty bucket fills. */
const minuteMs = 60_000

/**
 * A token bucket: it holds what a minute allows and fills all the time. `now` is milliseconds of a steady clock.
 *
 * It counts in units of a sixty-thousandth, so that each millisecond adds a whole number of them: every sum is
 * exact, and no rounding grants one too many or refuses one early.
 */
export class TokenBucket {
  #limit: number
  /** In units; more than the bucket holds is a debt. */
  #spent = 0
  #refilledAt: number

  constructor(limit: number, now: number) {
    this.#limit = Math.min(limit, maxLimit)
    this.#refilledAt = Math.floor(now)
  }

  /**
   * Takes the amount and returns 0, or takes nothing and returns the milliseconds until it will be there. What is
   * more than the bucket can hold is granted by a full one, and leaves a debt, of a minute at most.
   */
  take(amount: number, now: number): number {
    this.#refill(now)
    const wanted = toUnits(amount)
    const missing = Math.min(wanted, this.#capacity) + this.#spent - this.#capacity
    if (missing > 0) return ceilDivide(missing, this.#limit)
    this.#spent = this.#clampDebt(this.#spent + wanted)
    return 0
  }

  /**
   * Takes the amount also where it is not there, which leaves a debt of a minute at most; gives back a negative one, at
   * most until the bucket is full.
   */
  charge(amount: number, now: number): void {
    this.#refill(now)
    this.#spent = this.#clampDebt(Math.max(0, this.#spent + toUnits(amount)))
  }

  /**
   * Changes the limit and keeps the time until the bucket is full. To keep the amount instead would let a raised
   * limit begin with a burst, and lock out for many minutes whoever has spent more than a lowered one allows.
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

  /** What it holds, in whole numbers; nothing while it is in debt. */
  remaining(now: number): number {
    this.#refill(now)
    return Math.max(0, Math.floor((this.#capacity - this.#spent) / minuteMs))
  }

  /** Milliseconds until it holds all that it can, if nothing more is taken. */
  resetMs(now: number): number {
    this.#refill(now)
    return ceilDivide(this.#spent, this.#limit)
  }

  get #capacity(): number {
    return this.#limit * minuteMs
  }

  /** What is spent, where that is no more than twice what the bucket holds. */
  #clampDebt(spent: number): number {
    return Math.min(spent, 2 * this.#capacity, maxUnits)
  }

  #refill(now: number): void {
    const elapsed = Math.floor(now) - this.#refilledAt
    if (elapsed <= 0) return
    // Where the product is too large to be exact, it is more than could be spent.
    this.#spent = Math.max(0, this.#spent - elapsed * this.#limit)
    this.#refilledAt += elapsed
  }
}

const maxUnits = Number.MAX_SAFE_INTEGER
/** The largest limit: 150 billion a minute. Nothing passes a gateway faster. */
const maxLimit = Math.floor(maxUnits / minuteMs)

function toUnits(amount: number): number {
  return Math.ceil(Math.min(amount, maxLimit) * minuteMs)
}

/** Rounded up. By the remainder, because the quotient of large numbers is itself rounded. */
function ceilDivide(dividend: number, divisor: number): number {
  const rest = dividend % divisor
  return (dividend - rest) / divisor + (rest > 0 ? 1 : 0)
}
