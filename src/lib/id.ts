import { randomBytes } from 'node:crypto'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Returns `length` random base62 characters; each carries 5.95 bits. */
export function randomText(length: number): string {
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length * 2)) {
      // 248 is the largest multiple of 62 in a byte: the rest would favour the first characters.
      if (byte < 248 && text.length < length) text += alphabet[byte % 62]
    }
  }
  return text
}

/**
 * Returns an id that sorts by its creation time: the prefix and the 32 digits of a UUID of version 7. The ids of one
 * process sort strictly in the order of their creation, also within a millisecond.
 */
export function timeSortedId(prefix: string): string {
  return prefix + Bun.randomUUIDv7('buffer').toHex()
}

/** Returns the creation time of a time-sorted id, in milliseconds since 1970. */
export function timeOf(id: string): number {
  return Number.parseInt(id.slice(-32, -20), 16)
}
