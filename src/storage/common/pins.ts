/** The responses that this process is about to add followers to: one that is removed is not erased yet. */
export type Pins = {
  add(id: string): void
  /** Returns true if the response was removed while it was pinned, and this was its last pin. */
  remove(id: string): boolean
  /** Returns whether the response is pinned; if so, it is remembered as removed until its last pin is gone. */
  markRemoved(id: string): boolean
  /** The ids of all pinned responses. */
  all(): readonly string[]
  /** The ids of the pinned responses that were removed by this process. */
  removed(): readonly string[]
}

/** See `Pins`. */
export function createPins(): Pins {
  const counts = new Map<string, number>()
  const removed = new Set<string>()

  return {
    add: (id) => void counts.set(id, (counts.get(id) ?? 0) + 1),
    remove(id) {
      const others = (counts.get(id) ?? 0) - 1
      if (others > 0) {
        counts.set(id, others)
        return false
      }
      counts.delete(id)
      return removed.delete(id)
    },
    markRemoved(id) {
      if (!counts.has(id)) return false
      removed.add(id)
      return true
    },
    all: () => [...counts.keys()],
    removed: () => [...removed],
  }
}
