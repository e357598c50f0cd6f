/** Bounds how long an accepted stream may be silent before the caller gets it without its first event. */
export class FirstEventTimeout {
  readonly #timeoutMs: number
  readonly #expired = Promise.withResolvers<void>()
  #timer: Timer | undefined

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs
  }

  /** The provider has accepted the call; the timeout starts. */
  readonly start = (): void => {
    this.#timer = setTimeout(this.#expired.resolve, this.#timeoutMs)
  }

  /** Resolves with the first event or after the timeout; rejects if the stream fails before. */
  async waitFor(first: Promise<unknown>): Promise<void> {
    try {
      await Promise.race([first, this.#expired.promise])
    } finally {
      clearTimeout(this.#timer)
      // The reader of the stream gets its failure; until then it must not count as an unhandled rejection.
      first.catch(() => {})
    }
  }
}
