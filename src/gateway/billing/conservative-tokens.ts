/**
 * The maximum tokens of a character in ordinary text, by its class; fitted to o200k_base. English comes to
 * somewhat less than twice its tokens, and no kind of text to less than its own: a test checks both.
 */
const letter = 0.45
const rareLetter = 0.75
const capital = 0.8
const digit = 0.85
const symbol = 0.9
const space = 0.15
const newline = 0.5
/** A character of two bytes in UTF-8, such as é, ж or ש. */
const twoByteCharacter = 1
/** A character of three bytes, such as 中 or あ, and each half of one that takes two UTF-16 units, such as an emoji. */
const threeByteCharacter = 1.5

const asciiWeights = createAsciiWeights()

/**
 * A conservative estimate: about as many tokens as any tokenizer makes of the text, or more; not an integer.
 */
export function conservativeTokens(text: string): number {
  let sum = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    sum += asciiWeights[code] ?? (code < 0x800 ? twoByteCharacter : threeByteCharacter)
  }
  return sum
}

function createAsciiWeights(): readonly number[] {
  const all = Array.from({ length: 128 }, () => symbol)
  setWeight(all, 'abcdefghijklmnopqrstuvwxyz', rareLetter)
  setWeight(all, 'acdehilmnorstu', letter)
  setWeight(all, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', capital)
  setWeight(all, '0123456789', digit)
  setWeight(all, ' ', space)
  setWeight(all, '\n', newline)
  return all
}

function setWeight(weights: number[], characters: string, weight: number): void {
  for (const character of characters) weights[character.charCodeAt(0)] = weight
}
