/** The responses that this process is about to add followers to: one that is removed is not erased yet. */
export class Pins {
  readonly #counts = new Map<string, number>()
  readonly #removed = new Set<string>()

  add(id: string): void {
    this.#counts.set(id, (this.#counts.get(id) ?? 0) + 1)
  }

  /** Returns true if the response was removed while it was pinned, and this was its last pin. */
  remove(id: string): boolean {
    const others = (this.#counts.get(id) ?? 0) - 1
    if (others > 0) this.#counts.set(id, others)
    else this.#counts.delete(id)
    return others <= 0 && this.#removed.delete(id)
  }

  /** Returns whether the response is pinned; if so, it is remembered as removed until its last pin is gone. */
  markRemoved(id: string): boolean {
    if (this.#counts.has(id)) this.#removed.add(id)
    return this.#counts.has(id)
  }

  /** The ids of all pinned responses. */
  all(): readonly string[] {
    return [...this.#counts.keys()]
  }

  /** The ids of the pinned responses that were removed by this process. */
  removed(): readonly string[] {
    return [...this.#removed]
  }
}
