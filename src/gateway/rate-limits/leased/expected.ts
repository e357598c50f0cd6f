/** How long an admitted request may take to come back for its part, in milliseconds. */
const windowMs = 50

/**
 * What requests are about to take: it is leased together with their admission, and held for a moment. Each of them takes
 * its part once.
 */
export class Expected {
  #total = 0
  /** The parts of the admitted requests, oldest first. */
  #admitted: { readonly amount: number; readonly until: number }[] = []

  /** Expects an amount of a request that is about to be admitted or rejected. */
  add(amount: number): ExpectedPart {
    this.#total += amount
    return {
      admitted: () => void this.#admitted.push({ amount, until: performance.now() + windowMs }),
      rejected: () => void (this.#total -= amount),
    }
  }

  /** A request takes its part, or asks for it. */
  taken(): void {
    this.#total -= this.#admitted.shift()?.amount ?? 0
  }

  /** The sum of the parts that are still expected. */
  get value(): number {
    const now = performance.now()
    while (this.#admitted[0] !== undefined && this.#admitted[0].until < now) this.taken()
    return this.#total
  }
}

/** The part of one request. */
export type ExpectedPart = { admitted(): void; rejected(): void }
