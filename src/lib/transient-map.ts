/**
 * A `Map` whose entries live as long as a request.
 *
 * Whenever JavaScriptCore replaces the table of a `Map` or `Set`, the old table keeps its entries and refers to the new one.
 * A collection of young objects begins at old tables too, and so a third of all deleted entries would outlive it, with all
 * that they refer to, until the next full collection: pauses become three times as long, and the heap grows. Here a
 * table refers to values by cells, which are emptied.
 */
export class TransientMap<Key, Value> {
  readonly #cells = new Map<Key, { value: Value | undefined }>()

  get size(): number {
    return this.#cells.size
  }

  get(key: Key): Value | undefined {
    return this.#cells.get(key)?.value
  }

  set(key: Key, value: Value): void {
    this.#cells.set(key, { value })
  }

  delete(key: Key): void {
    const cell = this.#cells.get(key)
    if (cell === undefined) return
    cell.value = undefined
    this.#cells.delete(key)
  }

  keys(): MapIterator<Key> {
    return this.#cells.keys()
  }

  /** The values, in the order in which their keys were first set. */
  values(): IteratorObject<Value> {
    return this.#cells.values().map(({ value }) => value as Value)
  }
}
