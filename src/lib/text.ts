/** The text cut to so many characters, in one line: control characters become `\ufffd`. */
export function shortText(text: string, maxLength: number): string {
  const cut = text.length <= maxLength ? text : `${text.slice(0, maxLength)}…`
  // A cut may fall between the halves of a character, and a foreign text may hold line ends.
  return cut.toWellFormed().replaceAll(/[\p{Cc}\u2028\u2029]/gu, '\ufffd')
}

/** The text as a log line may have it: short, in one line, and without what looks like a secret. */
export function loggable(text: string, maxLength = 100): string {
  // Almost all are a plain word, such as a method: those need no search.
  if (text.length <= maxLength && plainWord.test(text)) return text
  // Masked before the cut: of a secret that the cut divides nothing would be recognised.
  return shortText(masked(text.slice(0, maxScanned)), maxLength)
}

/** Short enough to be no key, and of letters alone. */
const plainWord = /^[A-Za-z]{0,20}$/

/** True where the text holds something that looks like a key or a token. */
export function looksSecret(text: string): boolean {
  return masked(text) !== text
}

/** Characters: an ordinary path or name is much shorter. */
const maxScanned = 1000

function masked(text: string): string {
  return secrets.reduce((rest, pattern) => rest.replace(pattern, '[key]'), text)
}

const secrets: readonly RegExp[] = [
  // The first letters of the keys of providers and of this gateway.
  /(?<![A-Za-z0-9])(?:sk|pk|rk|gsk|xai|pplx|fw|csk|hf|key|ghp|glpat)[-_][\w*.-]{6,}/g,
  /(?<![A-Za-z0-9])(?:AIza|ya29\.|AKIA|eyJ)[\w.-]{10,}/g,
  // A long run of letters and digits without a break: names of models are divided by other characters.
  /(?<![A-Za-z0-9])(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{32,}/g,
]
