import { maxNanos, type Nanos } from '../../lib/usd.ts'

/** Returns the nearest amount that a column can hold: a provider may report any number of tokens. */
export function clampToColumn(amount: Nanos): Nanos {
  if (amount < 0n) return 0n
  return amount > maxNanos ? maxNanos : amount
}

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

/**
 * A regular expression, in the syntax of both databases and of JavaScript, for the escapes in JSON of what PostgreSQL cannot
 * convert to text: null characters and half characters. A pair of backslashes before them is a backslash.
 */
export const unstorableEscape = String.raw`(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})`

const pattern = new RegExp(unstorableEscape, 'g')

/** Replaces these characters in tags, as JSON, by U+FFFD. No request can have them, but rows of earlier versions do. */
export function storableTags(json: string): string {
  return json.replace(pattern, '$1\ufffd')
}

/** Returns a time that a column can hold; 0 for one that is not a number. */
export function clampedTime(time: number): number {
  return Number.isSafeInteger(time) ? time : 0
}
