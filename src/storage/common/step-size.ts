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

/** The rows and bytes that one transaction may still change; the last row may exceed the bytes. */
export type Step = { rows: number; bytes: number }

/** Returns the rows and bytes of a whole step. */
export function newStep(): Step {
  return { rows: stepRows, bytes: stepBytes }
}

/** Counts a changed row. */
export function spend(step: Step, bytes: number): void {
  step.rows--
  step.bytes -= bytes
}

/** Whether the transaction may change no further row. */
export function isExhausted(step: Step): boolean {
  return step.rows <= 0 || step.bytes <= 0
}
