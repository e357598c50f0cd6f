/** Colours text for a terminal. */
export type Paint = {
  dim(text: string): string
  green(text: string): string
  yellow(text: string): string
  red(text: string): string
}

/** Creates a paint that colours text, or returns it unchanged if `color` is false. */
export function createPaint(color: boolean): Paint {
  const paint = (code: number) => (text: string) => (color ? `\u001b[${code}m${text}\u001b[0m` : text)
  return { dim: paint(2), green: paint(32), yellow: paint(33), red: paint(31) }
}

/** Replaces control characters with spaces: foreign text must not control a terminal or break a line. */
export function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what is replaced.
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, ' ')
}

/** Formats the time of day in the local time zone. */
export function clockTime(time: Date): string {
  return time.toLocaleTimeString('en-GB')
}

const labelWidth = 5

/** Pads the second column of every line: a log level or the status of a request. */
export function levelLabel(text: string): string {
  return text.padEnd(labelWidth)
}
