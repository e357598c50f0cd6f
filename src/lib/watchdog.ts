/**
 * A timeout that restarts with each piece of a stream. Setting a timer for each piece would cost more than the piece:
 * one timer runs, and checks the deadline when it fires.
 */
export class Watchdog {
  readonly #onTimeout: () => void
  #timeoutMs: number
  #deadline: number
  #timer: Timer | undefined

  /** Starts the timeout; `onTimeout` is called when it expires. */
  constructor(timeoutMs: number, onTimeout: () => void) {
    this.#onTimeout = onTimeout
    this.#timeoutMs = timeoutMs
    this.#deadline = performance.now() + timeoutMs
    this.#timer = setTimeout(this.#check, timeoutMs)
  }

  /** Restarts the timeout, with a new length if `timeoutMs` is passed. */
  touch(timeoutMs = this.#timeoutMs): void {
    this.#deadline = performance.now() + timeoutMs
    // A running timer fires early enough, unless the timeout has become shorter.
    if (this.#timer !== undefined && timeoutMs >= this.#timeoutMs) return
    clearTimeout(this.#timer)
    this.#timeoutMs = timeoutMs
    this.#timer = setTimeout(this.#check, timeoutMs)
  }

  /** Cancels the timeout. */
  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  readonly #check = (): void => {
    const remainingMs = this.#deadline - performance.now()
    this.#timer = remainingMs > 1 ? setTimeout(this.#check, remainingMs) : undefined
    if (this.#timer === undefined) this.#onTimeout()
  }
}
