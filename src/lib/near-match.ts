/** The candidate that was most likely meant by a mistyped word; undefined where none is close. */
export function nearMatch(word: string, candidates: Iterable<string>): string | undefined {
  const typed = word.toLowerCase()
  let best: string | undefined
  // A third of the letters may be wrong: more, and the guess confuses.
  let least = Math.max(1, Math.floor(typed.length / 3)) + 1
  for (const candidate of candidates) {
    const distance = editDistance(typed, candidate.toLowerCase())
    if (distance < least) {
      best = candidate
      least = distance
    }
  }
  return best
}

/** How many letters must be added, removed, replaced or swapped with their neighbour. */
function editDistance(from: string, to: string): number {
  let older: number[] = []
  let above = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1]
      const costs = [
        cell(above, column) + 1,
        cell(current, column - 1) + 1,
        cell(above, column - 1) + Number(!same),
      ]
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      if (swapped) costs.push(cell(older, column - 2) + 1)
      current.push(Math.min(...costs))
    }
    older = above
    above = current
  }
  return cell(above, to.length)
}

function cell(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY
}
