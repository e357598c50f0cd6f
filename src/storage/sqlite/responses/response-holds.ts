/** The responses that others are about to follow, in this process: one that is removed is not erased yet. */
export type Holds = {
  hold(id: string): void
  /** True where it was removed while it was held, and nobody holds it any more. */
  letGo(id: string): boolean
  /** Whether a removal has to leave it; then it is among those below until it is let go. */
  keeps(id: string): boolean
  /** The ids of those that removals had to leave. */
  left(): readonly string[]
}

export function createHolds(): Holds {
  const holders = new Map<string, number>()
  const left = new Set<string>()

  return {
    hold: (id) => void holders.set(id, (holders.get(id) ?? 0) + 1),
    letGo(id) {
      const others = (holders.get(id) ?? 0) - 1
      if (others > 0) {
        holders.set(id, others)
        return false
      }
      holders.delete(id)
      return left.delete(id)
    },
    keeps(id) {
      if (!holders.has(id)) return false
      left.add(id)
      return true
    },
    left: () => [...left],
  }
}
