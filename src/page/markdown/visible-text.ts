/** Characters that change how others are shown, or that a terminal obeys: escapes, overrides of the direction. */
const hidden = /(?![\t\n])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu

/** Makes control characters and overrides of the direction visible, so that a text cannot pose as another one. */
export function visibleText(text: string): string {
  return text.replace(hidden, (character) => {
    const code = character.charCodeAt(0)
    if (code === 13) return ''
    if (code < 32) return String.fromCharCode(0x2400 + code)
    return `[U+${code.toString(16).toUpperCase().padStart(4, '0')}]`
  })
}
