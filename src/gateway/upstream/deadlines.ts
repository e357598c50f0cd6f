import { createWatchdog, type Watchdog } from '../../lib/watchdog.ts'
import type { Provider } from '../../providers/provider.ts'
import { timedOut } from './failure.ts'

/**
 * The deadlines of one answer: until its first event, and then between its pieces. One that passes ends the call with
 * the 502 that says which it was.
 */
export class Deadlines {
  readonly #provider: Provider
  readonly #abort: AbortController
  readonly #watchdog: Watchdog
  #begun = false
  #waiting = true

  constructor(provider: Provider, abort: AbortController) {
    this.#provider = provider
    this.#abort = abort
    this.#watchdog = createWatchdog(provider.timeouts.firstByte, () => this.#passed())
  }

  /** More is wanted: the provider is waited for from now on, and not while a caller is slow to take what came. */
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

  /** A piece without an event has come. */
  heard(): void {
    if (this.#begun) this.#watchdog.touch()
  }

  stop(): void {
    this.#watchdog.stop()
  }

  #passed(): void {
    const { name } = this.#provider
    if (!this.#begun) this.#abort.abort(timedOut(name, 'no answer came'))
    else if (this.#waiting) this.#abort.abort(timedOut(name, 'the answer stopped'))
  }
}
