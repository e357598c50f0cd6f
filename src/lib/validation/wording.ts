import { looksSecret, shortText } from '../text.ts'

/** The way to a field from the root of a value. */
export type Path = readonly (string | number)[]

/** What is wrong and where; `must` and `got` say the rest, where the code alone does not. */
export type Problem = {
  readonly path: Path
  readonly code: string
  /** What stands behind “must” in a sentence: `be at least 0`. */
  readonly must?: string
  /** What stands behind “not”: the value, or words for it. */
  readonly got?: string
}

/** The sentence that the caller reads. */
export function sentenceOf({ path, code, must, got }: Problem): string {
  const name = nameOf(path)
  if (code === 'missing_required_parameter') return `'${name}' is required.`
  if (code === 'unknown_parameter') return `'${name}' is not a known parameter.`
  const where = name === null ? 'Invalid request body' : `Invalid '${name}'`
  return `${where}: must ${must}, not ${got}.`
}

/** `messages[0].content`, or null for the root. */
export function nameOf(path: Path): string | null {
  if (path.length === 0) return null
  const text = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${shortened(step)}`)).join('')
  return text.startsWith('.') ? text.slice(1) : text
}

/** A foreign value in quotes, short enough for a sentence; one that looks like a secret is not shown. */
export function quoted(value: unknown): string {
  if (typeof value !== 'string') return String(value)
  return looksSecret(value.slice(0, maxScanned)) ? 'a text that looks like a secret' : `'${shortened(value)}'`
}

/** The words as a choice: `a, b or c`; or joined by another word. */
export function oneOf(words: readonly string[], joint = 'or'): string {
  const [last = '', ...others] = words.toReversed()
  return others.length === 0 ? last : `${others.toReversed().join(', ')} ${joint} ${last}`
}

const maxQuoted = 40
/** Characters: what lies behind them is cut off in any case. */
const maxScanned = 400

function shortened(text: string): string {
  return shortText(text, maxQuoted)
}
