/**
 * Parses JSON. A number with more digits than a float has, such as a very large amount of money, becomes its text where
 * the browser passes the source of a value.
 */
export function parseExactJson(text: string): unknown {
  return longNumber.test(text) ? JSON.parse(text, keepDigits) : JSON.parse(text)
}

/** Floats have 15 reliable digits. */
const longNumber = /[\d.]{17,}/

function keepDigits(_: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source
  if (typeof value !== 'number' || source === undefined || !/^-?\d+\.\d+$/.test(source)) return value
  return source.replace(/[-.]/g, '').length > 15 ? source : value
}
