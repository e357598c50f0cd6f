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
