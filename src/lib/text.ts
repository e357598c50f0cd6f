/** Cuts the text to `maxLength` characters in one line: control characters become `\ufffd`. */
export function shortText(text: string, maxLength: number): string {
  const cut = text.length <= maxLength ? text : `${text.slice(0, maxLength)}…`
  // The cut can split a surrogate pair, and foreign text can contain line ends.
  return cut.toWellFormed().replaceAll(/[\p{Cc}\u2028\u2029]/gu, '\ufffd')
}

/** Whether both databases can store the text, and compare it: PostgreSQL rejects null characters and half characters. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

/** The same as a regular expression with the flag `u`. */
export const storablePattern = '^[^\\u0000\\ud800-\\udfff]*$'

/** The text after “must” in the message about a text that is not storable. */
export const storableRule = 'be valid Unicode without null characters'

/** Makes foreign text safe for a log line: short, in one line, and without anything that looks like a secret. */
export function loggable(text: string, maxLength = 100): string {
  // Most texts are a plain word, such as a method, and need no search.
  if (text.length <= maxLength && plainWord.test(text)) return text
  // Masked before the cut: a secret that the cut divides would not be recognised.
  return shortText(masked(text.slice(0, maxScanned)), maxLength)
}

/** Only letters, and too short to be a key. */
const plainWord = /^[A-Za-z]{0,20}$/

/** Returns true if the text contains something that looks like a key or a token. */
export function looksSecret(text: string): boolean {
  return masked(text) !== text
}

/** Characters. An ordinary path or name is much shorter. */
const maxScanned = 1000

function masked(text: string): string {
  return secrets.reduce((result, pattern) => result.replace(pattern, '[key]'), text)
}

const secrets: readonly RegExp[] = [
  // The prefixes of the keys of providers and of this gateway.
  /(?<![A-Za-z0-9])(?:sk|pk|rk|gsk|xai|pplx|fw|csk|hf|key|ghp|glpat)[-_][\w*.-]{6,}/g,
  /(?<![A-Za-z0-9])(?:AIza|ya29\.|AKIA|eyJ)[\w.-]{10,}/g,
  // A long run of letters and digits: names of models contain other characters in between.
  /(?<![A-Za-z0-9])(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{32,}/g,
]

/** A set of names, in lists that are separated by spaces or line breaks. */
export function nameSet(...lists: readonly string[]): ReadonlySet<string> {
  return new Set(lists.flatMap((list) => list.trim().split(/\s+/)))
}

type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name

/** The fields under names in camel case; the cast says what the expression does. */
export function camelCase<Fields extends object>(fields: Fields) {
  const entries = Object.entries(fields).map(([name, value]) => [
    name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
    value,
  ])
  return Object.fromEntries(entries) as {
    readonly [Name in keyof Fields & string as CamelCase<Name>]: Fields[Name]
  }
}
