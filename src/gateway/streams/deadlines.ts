import { isReachable } from '../../lib/reachable.ts'
import { Watchdog } from '../../lib/time.ts'
import type { Provider } from '../../providers/provider.ts'
import { connectionTimedOut, firstTokenTimedOut, responseTimedOut } from './upstream-error.ts'

/** How long the first token of a stream is awaited, and whether the caller has set that for this request. */
export type FirstTokenTimeout = { readonly timeoutMs: number; readonly byCaller: boolean }

/**
 * The deadlines of one response: until the host accepts the connection, until the first event, until the first token where
 * that has a timeout, and then between chunks. When one passes, the call is aborted with the 502 that names it.
 */
export class Deadlines {
  readonly #provider: Provider
  readonly #abort: AbortController
  readonly #startedAt = performance.now()
  readonly #watchdog: Watchdog
  #hasResponse = false
  #hasEvents = false
  #waiting = true
  #firstToken: Timer | undefined

  constructor(provider: Provider, abort: AbortController, firstToken?: FirstTokenTimeout) {
    const { connect, firstByte } = provider.timeouts
    this.#provider = provider
    this.#abort = abort
    this.#watchdog = new Watchdog(Math.min(connect / 2, firstByte), () => this.#expired())
    if (firstToken === undefined) return
    const expired = () => abort.abort(firstTokenTimedOut(provider.name, firstToken.byCaller))
    this.#firstToken = setTimeout(expired, firstToken.timeoutMs)
  }

  /** Whether the timeout of the first token runs. */
  awaitsToken(): boolean {
    return this.#firstToken !== undefined
  }

  /** The first token was received. */
  tokenReceived(): void {
    clearTimeout(this.#firstToken)
    this.#firstToken = undefined
  }

  /** The status and headers were received. */
  responseReceived(): void {
    this.#hasResponse = true
  }

  /** A chunk is awaited: the provider is waited for from now on, and not while a caller is slow to read. */
  waitStarted(): void {
    this.#waiting = true
    if (this.#hasEvents) this.#watchdog.touch(this.#provider.timeouts.idle)
  }

  /** Events were received. */
  eventsReceived(): void {
    this.#waiting = false
    if (this.#hasEvents) return
    this.#hasEvents = true
    // The idle deadline runs when more is awaited: not for a response that is not streamed.
    this.#watchdog.stop()
  }

  stop(): void {
    this.tokenReceived()
    this.#watchdog.stop()
  }

  #expired(): void {
    if (!this.#hasEvents) this.#checkSilence()
    else if (this.#waiting) this.#abort.abort(responseTimedOut(this.#provider.name, 'its response stalled'))
  }

  #checkSilence(): void {
    const { name, timeouts } = this.#provider
    const remainingMs = this.#startedAt + timeouts.firstByte - performance.now()
    // A timer may fire early by a fraction of a millisecond.
    if (remainingMs <= 1) return this.#abort.abort(responseTimedOut(name, 'it did not respond'))
    this.#watchdog.touch(remainingMs)
    if (!this.#hasResponse) void this.#checkConnection()
  }

  /**
   * `fetch` does not report when its connection is established. If no response has come in half the time, a
   * separate connection shows within the other half whether the host accepts any.
   */
  async #checkConnection(): Promise<void> {
    const { name, baseUrl, timeouts } = this.#provider
    if (await isReachable(baseUrl, timeouts.connect / 2)) return
    if (!this.#hasResponse) this.#abort.abort(connectionTimedOut(name))
  }
}
