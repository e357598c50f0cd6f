/** Remembers for each slug the Unix second in which it was first asked for. */
export function createFirstSeen(now: () => number = Date.now): (slug: string) => number {
  const seen = new Map<string, number>()
  return (slug) => {
    const second = seen.get(slug) ?? Math.floor(now() / 1000)
    seen.set(slug, second)
    return second
  }
}
