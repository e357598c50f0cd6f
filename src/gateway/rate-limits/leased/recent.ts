/** The length of a window in milliseconds. */
const windowMs = 80

/** Combines the values of the last moments: those of the current window and of the one before it. */
export class Recent {
  readonly #combine: (one: number, other: number) => number
  #startedAt = 0
  #current = 0
  #previous = 0

  constructor(combine: (one: number, other: number) => number) {
    this.#combine = combine
  }

  add(value: number): void {
    this.#moveOn()
    this.#current = this.#combine(this.#current, value)
  }

  /** The higher value of the two windows; 0 if nothing was added to them. */
  get value(): number {
    this.#moveOn()
    return Math.max(this.#current, this.#previous)
  }

  #moveOn(): void {
    const now = performance.now()
    const elapsed = now - this.#startedAt
    if (elapsed < windowMs) return
    this.#previous = elapsed < 2 * windowMs ? this.#current : 0
    this.#current = 0
    this.#startedAt = now
  }
}
