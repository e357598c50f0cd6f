/**
 * Returns true if a parsed JSON value takes more than `limit` bytes as JSON. Stops as soon as that is known; recurs as
 * deep as the value is nested.
 */
export function jsonExceeds(value: unknown, limit: number): boolean {
  return remainingBytes(value, limit) < 0
}

/** Returns how many of the bytes remain after the value; less than 0 if it does not fit. */
function remainingBytes(value: unknown, bytes: number): number {
  if (bytes < 0) return bytes
  if (typeof value === 'string') return bytes - stringBytes(value, bytes)
  if (typeof value !== 'object' || value === null) return bytes - String(value).length
  return Array.isArray(value) ? remainingAfterArray(value, bytes) : remainingAfterObject(value, bytes)
}

function remainingAfterArray(list: readonly unknown[], bytes: number): number {
  let remaining = bytes - brackets
  for (const [index, item] of list.entries()) {
    remaining = remainingBytes(item, index === 0 ? remaining : remaining - 1)
    if (remaining < 0) return remaining
  }
  return remaining
}

function remainingAfterObject(fields: object, bytes: number): number {
  let remaining = bytes - brackets
  let first = true
  for (const [name, value] of Object.entries(fields)) {
    // A colon, and a comma before every member but the first.
    remaining -= stringBytes(name, remaining) + (first ? 1 : 2)
    remaining = remainingBytes(value, remaining)
    if (remaining < 0) return remaining
    first = false
  }
  return remaining
}

const brackets = 2

/** Encodes only strings that can fit: a string takes at least one byte for each character. */
function stringBytes(text: string, limit: number): number {
  return text.length > limit ? text.length : Buffer.byteLength(JSON.stringify(text))
}
