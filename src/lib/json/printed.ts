/** A value that was printed before, so that a transaction need not do it. */
export class PrintedJson {
  readonly text: string

  constructor(value: unknown) {
    this.text = JSON.stringify(value)
  }
}

/** Returns the JSON of a value, or the one that was printed before. */
export function printJson(value: unknown): string {
  return value instanceof PrintedJson ? value.text : JSON.stringify(value)
}
