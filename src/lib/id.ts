import { randomBytes } from 'node:crypto'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** `length` random base62 characters; each carries 5.95 bits. */
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

/** An id that sorts by the time of its making: 9 characters of microseconds and 15 random ones. */
export function timeSortedId(prefix: string, microseconds: number = microsecondsNow()): string {
  return prefix + base62(microseconds, 9) + randomText(15)
}

function microsecondsNow(): number {
  return Math.floor((performance.timeOrigin + performance.now()) * 1000)
}

function base62(value: number, width: number): string {
  let text = ''
  for (let rest = value; rest > 0; rest = Math.floor(rest / 62)) text = alphabet[rest % 62] + text
  return text.padStart(width, '0')
}
