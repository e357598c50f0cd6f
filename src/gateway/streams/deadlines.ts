import { reachable } from '../../lib/reachable.ts'
import { createWatchdog, type Watchdog } from '../../lib/watchdog.ts'
import type { Provider } from '../../providers/provider.ts'
import { connectionTimedOut, timedOut } from '../upstream/upstream-error.ts'

/**
 * The deadlines of one answer: until the host takes the connection, until the first event, and then between pieces. One
 * that passes ends the call with the 502 that says which it was.
 */
export class Deadlines {
  readonly #provider: Provider
  readonly #abort: AbortController
  readonly #startedAt = performance.now()
  readonly #watchdog: Watchdog
  #answered = false
  #begun = false
  #waiting = true

  constructor(provider: Provider, abort: AbortController) {
    const { connect, firstByte } = provider.timeouts
    this.#provider = provider
    this.#abort = abort
    this.#watchdog = createWatchdog(Math.min(connect / 2, firstByte), () => this.#passed())
  }

  /** Its status and headers are there. */
  answered(): void {
    this.#answered = true
  }

  /** A piece is wanted: the provider is waited for from now on, and not while a caller is slow to take what came. */
  wanted(): void {
    this.#waiting = true
    if (this.#begun) this.#watchdog.touch(this.#provider.timeouts.idle)
  }

  /** Events have come. */
  begun(): void {
    this.#waiting = false
    if (this.#begun) return
    this.#begun = true
    // The next one runs when more is wanted: of a whole answer nothing is.
    this.#watchdog.stop()
  }

  stop(): void {
    this.#watchdog.stop()
  }

  #passed(): void {
    if (!this.#begun) this.#stillSilent()
    else if (this.#waiting) this.#abort.abort(timedOut(this.#provider.name, 'the answer stopped'))
  }

  #stillSilent(): void {
    const { name, timeouts } = this.#provider
    const left = this.#startedAt + timeouts.firstByte - performance.now()
    // A timer may be early by a part of a millisecond.
    if (left <= 1) return this.#abort.abort(timedOut(name, 'no answer came'))
    this.#watchdog.touch(left)
    if (!this.#answered) void this.#checkConnection()
  }

  /**
   * `fetch` does not tell when its connection stands. Where no answer has come in half the time, a connection of
   * our own shows within the other half whether the host takes any.
   */
  async #checkConnection(): Promise<void> {
    const { name, baseUrl, timeouts } = this.#provider
    if (await reachable(baseUrl, timeouts.connect / 2)) return
    if (!this.#answered) this.#abort.abort(connectionTimedOut(name))
  }
}
