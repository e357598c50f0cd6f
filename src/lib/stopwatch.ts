import { monotonicNow } from './time.ts'

/** Adds up the time of waits that follow each other. */
export type Stopwatch = {
  start(): void
  /** Ends the wait, if one is under way. */
  stop(): void
  /** The sum of the waits that have ended. */
  milliseconds(): number
  /** The same, with the wait that is under way. */
  soFar(): number
}

export function createStopwatch(now = monotonicNow): Stopwatch {
  return new RunningStopwatch(now)
}

class RunningStopwatch implements Stopwatch {
  readonly #now: () => number
  #sum = 0
  #startedAt: number | undefined

  constructor(now: () => number) {
    this.#now = now
  }

  start(): void {
    this.#startedAt ??= this.#now()
  }

  stop(): void {
    if (this.#startedAt !== undefined) this.#sum += this.#now() - this.#startedAt
    this.#startedAt = undefined
  }

  milliseconds(): number {
    return this.#sum
  }

  soFar(): number {
    return this.#startedAt === undefined ? this.#sum : this.#sum + this.#now() - this.#startedAt
  }
}
