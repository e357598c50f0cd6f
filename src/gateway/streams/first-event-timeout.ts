/** How long an accepted stream may be silent before it is handed over all the same. */
export class FirstEventTimeout {
  readonly #milliseconds: number
  readonly #ended = Promise.withResolvers<void>()
  #timer: Timer | undefined

  constructor(milliseconds: number) {
    this.#milliseconds = milliseconds
  }

  /** The provider has accepted the call, and is silent from now on. */
  readonly begin = (): void => {
    this.#timer = setTimeout(this.#ended.resolve, this.#milliseconds)
  }

  /** Resolves when the stream says something first, or when the patience ends; rejects where it fails before. */
  async until(first: Promise<unknown>): Promise<void> {
    try {
      await Promise.race([first, this.#ended.promise])
    } finally {
      clearTimeout(this.#timer)
      // Whoever reads the stream gets its failure; until then it must not count as nobody's.
      first.catch(() => {})
    }
  }
}
