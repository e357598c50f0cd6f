/**
 * Tokens that a character takes at most in ordinary text, by its class; fitted to o200k_base. English comes to somewhat
 * less than twice its tokens, and no kind of text to less than its own: a test holds both.
 */
const letter = 0.45
const rareLetter = 0.75
const capital = 0.8
const digit = 0.85
const sign = 0.9
const space = 0.15
const lineEnd = 0.5
/** A character of two bytes in UTF-8, such as é, ж or ש. */
const twoBytes = 1
/** A character of three bytes, such as 中 or あ, and each half of one that takes two UTF-16 units, such as an emoji. */
const more = 1.5

const ascii = weights()

/** At least about as many tokens as any tokenizer makes of the text, and not a whole number. */
export function cautiousTokens(text: string): number {
  let sum = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    sum += ascii[code] ?? (code < 0x800 ? twoBytes : more)
  }
  return sum
}

function weights(): readonly number[] {
  const all = Array.from({ length: 128 }, () => sign)
  setAll(all, 'abcdefghijklmnopqrstuvwxyz', rareLetter)
  setAll(all, 'acdehilmnorstu', letter)
  setAll(all, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', capital)
  setAll(all, '0123456789', digit)
  setAll(all, ' ', space)
  setAll(all, '\n', lineEnd)
  return all
}

function setAll(weights: number[], characters: string, weight: number): void {
  for (const character of characters) weights[character.charCodeAt(0)] = weight
}
