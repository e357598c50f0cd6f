/** How long an accepted stream may be silent before it is handed over all the same. */
export class FirstEventTimeout {
  readonly #timeoutMs: number
  readonly #expired = Promise.withResolvers<void>()
  #timer: Timer | undefined

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs
  }

  /** The provider has accepted the call, and is silent from now on. */
  readonly start = (): void => {
    this.#timer = setTimeout(this.#expired.resolve, this.#timeoutMs)
  }

  /** Resolves when the stream says something first, or when the patience ends; rejects where it fails before. */
  async waitFor(first: Promise<unknown>): Promise<void> {
    try {
      await Promise.race([first, this.#expired.promise])
    } finally {
      clearTimeout(this.#timer)
      // Whoever reads the stream gets its failure; until then it must not count as nobody's.
      first.catch(() => {})
    }
  }
}
