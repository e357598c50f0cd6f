/** The most rows of one deleting step, and the bytes after which it takes no further one: it holds up other writes. */
export const stepRows = 200
export const stepBytes = 4 * 1024 ** 2

/** The first of the candidates, as many as one step deletes: one at least, however large it is. */
export function oneStep<Candidate extends { readonly bytes: number }>(
  candidates: readonly Candidate[],
): readonly Candidate[] {
  let bytes = 0
  const next = candidates.findIndex((candidate) => (bytes += candidate.bytes) > stepBytes)
  return next < 0 ? candidates.slice(0, stepRows) : candidates.slice(0, Math.max(1, Math.min(next, stepRows)))
}
