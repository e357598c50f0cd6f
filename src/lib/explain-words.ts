/** The way to a field from the root of a value. */
export type Path = readonly (string | number)[]

/** What is wrong and where; `expected` and `got` say the rest, where the code alone does not. */
export type Problem = {
  readonly path: Path
  readonly code: string
  readonly expected?: string
  readonly got?: string
}

/** The sentence that the caller reads. */
export function sentenceOf({ path, code, expected, got }: Problem): string {
  const name = nameOf(path)
  if (code === 'missing_required_parameter') return `'${name}' is required.`
  if (code === 'unknown_parameter') return `'${name}' is not a known parameter.`
  const where = name === null ? 'Invalid request body' : `Invalid '${name}'`
  return `${where}: expected ${expected}, but got ${got}.`
}

/** `messages[0].content`, or null for the root. */
export function nameOf(path: Path): string | null {
  if (path.length === 0) return null
  const text = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${shortened(step)}`)).join('')
  return text.startsWith('.') ? text.slice(1) : text
}

/** A foreign value in quotes, short enough for a sentence. */
export function quoted(value: unknown): string {
  return typeof value === 'string' ? `'${shortened(value)}'` : String(value)
}

/** The words as a choice: `a, b or c`. */
export function oneOf(words: readonly string[]): string {
  const [last = '', ...others] = words.toReversed()
  return others.length === 0 ? last : `${others.toReversed().join(', ')} or ${last}`
}

const usualLength = 40

/** A foreign name or value as a sentence can hold it: of at most so many characters, without control characters. */
export function shortened(text: string, longest: number = usualLength): string {
  const cut = text.length <= longest ? text : `${text.slice(0, longest)}…`
  // A cut may fall between the halves of a character, and a foreign name may hold line ends.
  return cut.toWellFormed().replaceAll(/\p{Cc}/gu, '\ufffd')
}
