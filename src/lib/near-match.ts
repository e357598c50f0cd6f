/** Returns the candidate that a mistyped word most likely means; undefined if none is close. */
export function nearMatch(word: string, candidates: Iterable<string>): string | undefined {
  return nearMatches(word, candidates, 1)[0]
}

/** Returns the question whether a mistyped word means a candidate, or `otherwise` if none is close. */
export function suggestion(word: string, candidates: Iterable<string>, otherwise: string): string {
  const near = nearMatch(word, candidates)
  return near === undefined ? otherwise : `Did you mean ${near}?`
}

/** Characters. Longer words are not matched because the work grows with the length. */
const maxLength = 100
const maxEdits = 4

/**
 * Returns at most `count` candidates that a mistyped word likely means, the closest first. The work is linear in the
 * length of the word and in the number of candidates.
 */
export function nearMatches(word: string, candidates: Iterable<string>, count: number): readonly string[] {
  if (word === '' || word.length > maxLength) return []
  const typed = word.toLowerCase()
  // At most a third of the letters may be wrong: beyond that a guess confuses.
  const limit = Math.min(maxEdits, Math.max(1, Math.floor(typed.length / 3)))
  const near: { readonly candidate: string; readonly distance: number }[] = []
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - typed.length) > limit) continue
    const distance = editDistance(typed, candidate.toLowerCase(), limit)
    if (distance <= limit) near.push({ candidate, distance })
  }
  // The sort keeps the order of candidates at the same distance.
  return near
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, count)
    .map(({ candidate }) => candidate)
}

/**
 * Returns how many letters must be added, removed, replaced or swapped with their neighbour; any number above the limit
 * if it exceeds the limit. Computes only the cells within the limit from the diagonal.
 */
function editDistance(one: string, other: string, limit: number): number {
  const [from, to] = withoutCommonEnds(one, other)
  const width = to.length + 1
  let older: number[] = []
  let above = Array.from({ length: width }, (_, column) => column)
  for (let row = 1; row <= from.length; row++) {
    const current = Array.from<number>({ length: width }).fill(far)
    if (fillRow(current, above, older, { from, to, row, limit }) > limit) return far
    older = above
    above = current
  }
  return above[to.length] ?? far
}

const far = 1_000_000

/** Removes the common prefix and suffix: most names of one author differ only in the middle. */
function withoutCommonEnds(one: string, other: string): readonly [string, string] {
  const shorter = Math.min(one.length, other.length)
  let start = 0
  while (start < shorter && one[start] === other[start]) start++
  let end = 0
  while (end < shorter - start && one.at(-1 - end) === other.at(-1 - end)) end++
  return [one.slice(start, one.length - end), other.slice(start, other.length - end)]
}

type Step = { readonly from: string; readonly to: string; readonly row: number; readonly limit: number }

/** Returns the lowest cost in the row. */
function fillRow(
  current: number[],
  above: readonly number[],
  older: readonly number[],
  { from, to, row, limit }: Step,
): number {
  let least = far
  const last = Math.min(to.length, row + limit)
  for (let column = Math.max(0, row - limit); column <= last; column++) {
    const same = from[row - 1] === to[column - 1]
    const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
    const cost = Math.min(
      (above[column] ?? far) + 1,
      (current[column - 1] ?? far) + 1,
      (above[column - 1] ?? far) + Number(!same),
      swapped ? (older[column - 2] ?? far) + 1 : far,
    )
    current[column] = cost
    if (cost < least) least = cost
  }
  return least
}
