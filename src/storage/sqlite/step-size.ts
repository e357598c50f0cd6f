/** The most rows of one deletion step, and the bytes after which it stops; a step is small, because it delays other writes. */
export const stepRows = 200
export const stepBytes = 4 * 1024 ** 2

/** Returns the first candidates, as many as one step may delete: at least one, of any size. */
export function oneStep<Candidate extends { readonly bytes: number }>(
  candidates: readonly Candidate[],
): readonly Candidate[] {
  let bytes = 0
  const next = candidates.findIndex((candidate) => (bytes += candidate.bytes) > stepBytes)
  return next < 0 ? candidates.slice(0, stepRows) : candidates.slice(0, Math.max(1, Math.min(next, stepRows)))
}
