import { monotonicNow } from './time.ts'

/** Adds up the durations of intervals that do not overlap. */
export class Stopwatch {
  readonly #now: () => number
  #sum = 0
  #startedAt: number | undefined

  /** `now` returns milliseconds. */
  constructor(now = monotonicNow) {
    this.#now = now
  }

  /** Starts an interval; does nothing if one is running. */
  start(): void {
    this.#startedAt ??= this.#now()
  }

  /** Ends the running interval, if there is one. */
  stop(): void {
    if (this.#startedAt !== undefined) this.#sum += this.#now() - this.#startedAt
    this.#startedAt = undefined
  }

  /** The milliseconds of the ended intervals. */
  endedMs(): number {
    return this.#sum
  }

  /** The milliseconds of all intervals, with the running one. */
  elapsedMs(): number {
    return this.#startedAt === undefined ? this.#sum : this.#sum + this.#now() - this.#startedAt
  }
}
