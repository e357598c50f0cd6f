import { monotonicNow } from '../../../lib/time.ts'

/** After this time, it is read again whether there are several organizations. */
const refreshAfterMs = 1000
/** An older answer counts for nothing. */
const maxAgeMs = 3000

/** Returns how many of the slots are left to organizations without a run in progress: none if there is one only. */
export type SlotShare = (concurrency: number) => number

/** While it is unknown whether there are several organizations, slots are left to others; `onRead` is called when it is known. */
export function createSlotShare(
  areSeveral: () => Promise<boolean>,
  onRead: () => void,
  now = monotonicNow,
): SlotShare {
  let several = true
  let readAt = Number.NEGATIVE_INFINITY
  let reading = false

  async function read(): Promise<void> {
    several = await areSeveral()
    readAt = now()
    onRead()
  }

  return (concurrency) => {
    const age = now() - readAt
    if (age > refreshAfterMs && !reading) {
      reading = true
      const ended = () => void (reading = false)
      // Without the database, the next call reads it again.
      read().then(ended, ended)
    }
    return several || age > maxAgeMs ? shareOf(concurrency) : 0
  }
}

/** A quarter, and at least one; a single slot is for everybody. */
function shareOf(concurrency: number): number {
  return concurrency === 1 ? 0 : Math.max(1, Math.floor(concurrency / 4))
}
