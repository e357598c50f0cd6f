import type { ErrorCode } from '../errors/error-codes.ts'
import { looksSecret, shortText } from '../text.ts'

/** The path from the root of a value to a field: property names and array indexes. */
export type Path = readonly (string | number)[]

/** A rule that a value breaks; `must` and `got` are absent if the code alone is clear. */
export type Problem = {
  readonly path: Path
  readonly code: ErrorCode
  /** The text after “must” in the message: `be at least 0`. */
  readonly must?: string
  /** The text after “not” in the message: the value or its description. */
  readonly got?: string
}

/** Returns the error message that the caller reads. */
export function problemMessage({ path, code, must, got }: Problem): string {
  const name = formatPath(path)
  if (code === 'missing_required_parameter') return `Missing required parameter: '${name}'.`
  if (code === 'unknown_parameter') return `Unknown parameter: '${name}'.`
  const where = name === null ? 'Invalid request body' : `Invalid '${name}'`
  return `${where}: must ${must}, not ${got}.`
}

/** Formats the path as `messages[0].content`; returns null for the root. */
export function formatPath(path: Path): string | null {
  if (path.length === 0) return null
  const text = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${shortened(step)}`)).join('')
  return text.startsWith('.') ? text.slice(1) : text
}

/** Quotes a foreign value, shortened for a message; a text that looks like a secret is not shown. */
export function quoted(value: unknown): string {
  if (typeof value !== 'string') return String(value)
  return looksSecret(value.slice(0, maxScanned))
    ? 'a string that looks like a secret'
    : `'${shortened(value)}'`
}

/** Joins the items as `a, b or c`, or with another conjunction. */
export function joinChoices(items: readonly string[], conjunction = 'or'): string {
  const [last = '', ...others] = items.toReversed()
  return others.length === 0 ? last : `${others.toReversed().join(', ')} ${conjunction} ${last}`
}

const maxQuoted = 40
/** Characters. The text after them is cut off anyway. */
const maxScanned = 400

function shortened(text: string): string {
  return shortText(text, maxQuoted)
}
