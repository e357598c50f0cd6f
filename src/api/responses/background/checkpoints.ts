import { causeOf, type Log } from '../../../lib/log.ts'
import { repeatEvery } from '../../../lib/time.ts'
import type { Responses } from '../../../storage/ports/responses.ts'
import { encodeEvents } from '../events/event-log.ts'
import type { LiveResponse } from '../live/live-response.ts'

/** Periodically stores the events of active runs, so that a crash loses only the last ones. */
export type Checkpoints = {
  watch(live: LiveResponse): void
  unwatch(live: LiveResponse): void
  stop(): void
}

const defaultIntervalMs = 1000

/** How much of the log is stored beyond that of the row itself: `chunks` is the position of the next append. */
type Progress = { events: number; chunks: number; writing: boolean }

/** The checkpoints of no runs yet. */
export function createCheckpoints(
  responses: Responses,
  log: Log,
  intervalMs = defaultIntervalMs,
): Checkpoints {
  const watched = new Map<LiveResponse, Progress>()
  const onFailure = (error: unknown) =>
    log.warn('The latest events of a background run could not be stored yet.', { cause: causeOf(error) })
  const timer = repeatEvery(intervalMs, storeAll, onFailure)

  async function storeAll(): Promise<void> {
    await Promise.all([...watched].map(([live, progress]) => storeNew(live, progress)))
  }

  async function storeNew(live: LiveResponse, progress: Progress): Promise<void> {
    const { length } = live.events
    if (progress.writing || length === progress.events || live.finished) return
    progress.writing = true
    try {
      const entries = encodeEvents(live.events.slice(progress.events))
      await responses.append(live.organization, live.id, progress.chunks, entries)
      progress.events = length
      progress.chunks += 1
    } finally {
      progress.writing = false
    }
  }

  return {
    watch: (live) => void watched.set(live, { events: live.events.length, chunks: 0, writing: false }),
    unwatch: (live) => void watched.delete(live),
    stop: timer.stop,
  }
}
