/** Values checked for each new one, so that no request pays for all of them. */
const maxChecked = 8

/** Keeps values by id. Beyond a number of them, those that are idle are evicted, and nothing is lost with them. */
export class IdleCache<Value> {
  readonly #values = new Map<string, Value>()
  readonly #isIdle: (value: Value) => boolean
  readonly #maxSize: number

  constructor(isIdle: (value: Value) => boolean, maxSize = 100_000) {
    this.#isIdle = isIdle
    this.#maxSize = maxSize
  }

  get size(): number {
    return this.#values.size
  }

  find(id: string): Value | undefined {
    return this.#values.get(id)
  }

  add(id: string, value: Value): Value {
    if (this.#values.size >= this.#maxSize) this.#evictIdle()
    this.#values.set(id, value)
    return value
  }

  /** Busy values move to the end of the queue. */
  #evictIdle(): void {
    for (const [id, value] of this.#values.entries().take(maxChecked)) {
      this.#values.delete(id)
      if (!this.#isIdle(value)) this.#values.set(id, value)
    }
  }
}
