/**
 * Returns the text as a string literal in double quotes that JSON, JavaScript, Python, Go, TOML and YAML all read as this
 * text. The literal is in one line, whatever the text is.
 */
export function quoted(text: string): string {
  // A lone surrogate cannot be escaped in TOML and Go.
  return escapeUnprintable(JSON.stringify(text.toWellFormed()))
}

/** Returns the value as indented JSON, with the characters escaped that YAML and editors do not accept. */
export function quotedJson(value: object): string {
  return `${escapeUnprintable(JSON.stringify(value, null, 2).toWellFormed())}\n`
}

/** Returns the text as one word of a shell: of a POSIX one, or of PowerShell on Windows. */
export function shellWord(text: string, platform: NodeJS.Platform = process.platform): string {
  const windows = platform === 'win32'
  if ((windows ? /^[\w./:%+\\-]+$/ : /^[\w./:@%+,-]+$/).test(text)) return text
  return `'${text.replaceAll("'", windows ? "''" : `'\\''`)}'`
}

/** Returns the literal with a character escaped that a tool would interpret before it parses the file. */
export function escapeCharacter(literal: string, character: '{' | '$'): string {
  return literal.replaceAll(character, unicodeEscape)
}

/** Characters that JSON allows in a string and YAML or TOML do not; two of them end a line in JavaScript and YAML. */
const unprintable = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g

function escapeUnprintable(literal: string): string {
  return literal.replace(unprintable, unicodeEscape)
}

/** Returns the escape of a character of JSON. */
export function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
