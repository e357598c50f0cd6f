/**
 * Requests that are about to take their part of a lease, which the exchange that admits them leases as well. It is kept for
 * them for one or two ticks.
 */
export class Arrivals {
  #pending = 0
  #recent = 0
  #earlier = 0

  get count(): number {
    return this.#pending + this.#recent + this.#earlier
  }

  /** A request waits for its admission. */
  add(): void {
    this.#pending++
  }

  /** The request is admitted and about to take its part, or it is rejected. */
  settle(admitted: boolean): void {
    this.#pending--
    if (admitted) this.#recent++
  }

  /** A request takes its part. */
  take(): void {
    if (this.#earlier > 0) this.#earlier--
    else if (this.#recent > 0) this.#recent--
  }

  tick(): void {
    this.#earlier = this.#recent
    this.#recent = 0
  }
}
