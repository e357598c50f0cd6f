/** A map of limited size: one entry more, and the one that was set longest ago is dropped. */
export class RecentMap<Key, Value> extends Map<Key, Value> {
  readonly #maxSize: number

  constructor(maxSize: number) {
    super()
    this.#maxSize = maxSize
  }

  /** Sets an entry, which becomes the newest, also where it was there before. */
  override set(key: Key, value: Value): this {
    this.delete(key)
    super.set(key, value)
    const [oldest] = this.size > this.#maxSize ? this.keys() : []
    if (oldest !== undefined) this.delete(oldest)
    return this
  }
}
