/** Puts text into a colour of the terminal. */
export type Paint = {
  dim(text: string): string
  green(text: string): string
  yellow(text: string): string
  red(text: string): string
}

/** Paints where the terminal takes colours; else text stays as it is. */
export function createPaint(color: boolean): Paint {
  const paint = (code: number) => (text: string) => (color ? `\u001b[${code}m${text}\u001b[0m` : text)
  return { dim: paint(2), green: paint(32), yellow: paint(33), red: paint(31) }
}

/** The text without control characters: what comes from outside must not steer a terminal or break a line. */
export function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex -- they are what is replaced.
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, ' ')
}
