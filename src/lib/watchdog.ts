/** Calls back when nothing was heard for too long. */
export type Watchdog = {
  /** Something was heard: the wait begins anew, for `milliseconds` from now on if given. */
  touch(milliseconds?: number): void
  stop(): void
}

/**
 * A deadline that moves with each piece of a stream. Setting a timer for each piece would cost more than the
 * piece: one timer runs, and looks at its end whether it is due.
 */
export function createWatchdog(milliseconds: number, expired: () => void): Watchdog {
  return new MovingDeadline(milliseconds, expired)
}

class MovingDeadline implements Watchdog {
  readonly #expired: () => void
  #wait: number
  #due: number
  #timer: Timer | undefined

  constructor(milliseconds: number, expired: () => void) {
    this.#expired = expired
    this.#wait = milliseconds
    this.#due = performance.now() + milliseconds
    this.#timer = setTimeout(this.#look, milliseconds)
  }

  touch(next = this.#wait): void {
    this.#due = performance.now() + next
    // A timer that runs is early enough, unless the wait has become shorter.
    if (this.#timer !== undefined && next >= this.#wait) return
    clearTimeout(this.#timer)
    this.#wait = next
    this.#timer = setTimeout(this.#look, next)
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  readonly #look = (): void => {
    const left = this.#due - performance.now()
    this.#timer = left > 1 ? setTimeout(this.#look, left) : undefined
    if (this.#timer === undefined) this.#expired()
  }
}
