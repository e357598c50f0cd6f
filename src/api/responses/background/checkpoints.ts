import { causeOf, type Log } from '../../../lib/log.ts'
import { repeatEvery } from '../../../lib/time.ts'
import type { Responses } from '../../../storage/ports/responses.ts'
import { encodeEvents } from '../events/event-log.ts'
import type { LiveResponse } from '../live/live-response.ts'

/** Stores now and then what has happened in the runs that are under way: what is left of them after a kill. */
export type Checkpoints = {
  watch(live: LiveResponse): void
  unwatch(live: LiveResponse): void
  stop(): void
}

/** Milliseconds. */
const interval = 1000

/** How much of the log is stored: with the row itself, that of its creation is. */
type Stored = { events: number; pieces: number; writing: boolean }

export function createCheckpoints(responses: Responses, log: Log, pause = interval): Checkpoints {
  const watched = new Map<LiveResponse, Stored>()
  const failed = (error: unknown) =>
    log.warn('What has happened in a background run was not stored yet.', { cause: causeOf(error) })
  const repeating = repeatEvery(pause, storeAll, failed)

  async function storeAll(): Promise<void> {
    await Promise.all([...watched].map(([live, stored]) => storeNew(live, stored)))
  }

  async function storeNew(live: LiveResponse, stored: Stored): Promise<void> {
    const { length } = live.events
    if (stored.writing || length === stored.events || live.finished) return
    stored.writing = true
    try {
      const entries = encodeEvents(live.events.slice(stored.events))
      await responses.append(live.organization, live.id, stored.pieces, entries)
      stored.events = length
      stored.pieces += 1
    } finally {
      stored.writing = false
    }
  }

  return {
    watch: (live) => void watched.set(live, { events: live.events.length, pieces: 0, writing: false }),
    unwatch: (live) => void watched.delete(live),
    stop: repeating.stop,
  }
}
