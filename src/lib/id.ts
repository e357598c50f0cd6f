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

/** Returns an id that sorts by its creation time: the prefix and the 32 digits of a UUID of version 7. */
type TimeSortedId = (prefix: string) => string

/** A clock that goes back by more than this was wrong before: ids take the new time. */
const maxClockSlipMs = 60_000

/**
 * Creates a generator whose ids sort strictly in the order of their creation, also within a millisecond, and if the clock
 * goes back a little: then their time stands still. After a larger correction they sort before those of the wrong time.
 * `now` returns milliseconds since 1970.
 */
export function createTimeSortedId(now: () => number = Date.now): TimeSortedId {
  let requested = 0
  /** Later than `requested` where there were some thousand ids of one time: Bun counts on with the next milliseconds. */
  let last = 0
  return (prefix) => {
    const time = now()
    if (time > last || last - time > maxClockSlipMs) requested = time
    const bytes = Bun.randomUUIDv7('buffer', requested)
    last = bytes.readUIntBE(0, 6)
    return prefix + bytes.toHex()
  }
}

/** The generator of this process, so that all of its ids sort. */
export const timeSortedId: TimeSortedId = createTimeSortedId()

/** Returns the beginning of the time-sorted ids of this time: it sorts before them, and after those of earlier times. */
export function startOfIds(prefix: string, time: number): string {
  const clamped = Math.min(Math.max(0, Math.floor(time)), latestTime)
  return prefix + clamped.toString(16).padStart(12, '0')
}

/** The time of an id has 48 bits. */
const latestTime = 2 ** 48 - 1

/** Returns the creation time of a time-sorted id, in milliseconds since 1970. */
export function timeOf(id: string): number {
  return Number.parseInt(id.slice(-32, -20), 16)
}
