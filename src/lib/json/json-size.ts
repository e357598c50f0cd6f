/**
 * Whether a value that came out of JSON takes more than `limit` bytes as JSON. It reads no further than that takes, and
 * recurs as deep as the value is.
 */
export function jsonExceeds(value: unknown, limit: number): boolean {
  return bytesLeft(value, limit) < 0
}

/** What is left of these bytes once the value is written; less than 0 where they do not suffice. */
function bytesLeft(value: unknown, bytes: number): number {
  if (bytes < 0) return bytes
  if (typeof value === 'string') return bytes - stringBytes(value, bytes)
  if (typeof value !== 'object' || value === null) return bytes - String(value).length
  return Array.isArray(value) ? leftOfList(value, bytes) : leftOfObject(value, bytes)
}

function leftOfList(list: readonly unknown[], bytes: number): number {
  let left = bytes - brackets
  for (const [index, item] of list.entries()) {
    left = bytesLeft(item, index === 0 ? left : left - 1)
    if (left < 0) return left
  }
  return left
}

function leftOfObject(fields: object, bytes: number): number {
  let left = bytes - brackets
  let first = true
  for (const [name, value] of Object.entries(fields)) {
    // A colon, and a comma before every member but the first.
    left -= stringBytes(name, left) + (first ? 1 : 2)
    left = bytesLeft(value, left)
    if (left < 0) return left
    first = false
  }
  return left
}

const brackets = 2

/** A string has at least a byte for each of its characters. */
function stringBytes(text: string, enough: number): number {
  return text.length > enough ? text.length : Buffer.byteLength(JSON.stringify(text))
}
