/** A number that JSON has exactly as written, although a JavaScript number could not represent it. */
export type ExactNumber = { readonly rawJSON: string }

/** The types of the platform do not declare it. */
const { rawJSON } = JSON as unknown as { rawJSON(text: string): ExactNumber }

/** Returns a value that `JSON.stringify` writes as this number: `0.000000001`. */
export function exactNumber(decimal: string): ExactNumber {
  return rawJSON(decimal)
}
