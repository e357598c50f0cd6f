import { causeOf } from '../../../lib/log.ts'
import { repeatEvery } from '../../../lib/time.ts'
import type { LogPiece } from '../../../storage/ports/run-store.ts'
import { encodeEvents } from '../events/event-log.ts'
import type { LiveResponse } from '../live/live-response.ts'
import type { RunContext } from './owned-runs.ts'

const intervalMs = 50
/** The interval for a run that no reader in any process waits for. */
const unreadIntervalMs = 1000
/** With many runs, the interval is longer, so that a process writes no more pieces than that in a second. */
const maxPiecesPerSecond = 4000
/** The interval while the database is unavailable. */
const outageIntervalMs = 1000

/**
 * How much of the log is stored beyond that of the row itself: `pieces` is the position of the next one. A piece is sent
 * again unchanged if it may have been stored, because others may have read it.
 */
type Progress = {
  events: number
  pieces: number
  storedAt: number
  unconfirmed: Piece | undefined
  restarted: boolean
}
type Piece = { readonly entries: string; readonly events: number }

type CheckpointDependencies = Pick<RunContext, 'peers' | 'runs' | 'owned' | 'log'>

/** Stores the events of active runs: from then on, readers receive them, and a crash loses only the later ones. */
export class Checkpoints {
  readonly #parts: CheckpointDependencies
  readonly #watched = new Map<string, { readonly live: LiveResponse; readonly progress: Progress }>()
  #timer: { stop(): void } | undefined

  constructor(parts: CheckpointDependencies) {
    this.#parts = parts
  }

  watch(live: LiveResponse): void {
    const { length: events } = live.events
    const [pieces, storedAt] = [0, performance.now()]
    const progress = { events, pieces, storedAt, unconfirmed: undefined, restarted: false }
    this.#watched.set(live.id, { live, progress })
    this.#timer ??= repeatEvery(
      intervalMs,
      () => this.#storeDue(),
      (error) =>
        this.#parts.log.warn('The latest events of background runs could not be stored yet.', {
          cause: causeOf(error),
        }),
    )
  }

  unwatch(live: LiveResponse): void {
    this.#watched.delete(live.id)
    if (this.#watched.size === 0) this.stop()
  }

  stop(): void {
    this.#timer?.stop()
    this.#timer = undefined
  }

  async #storeDue(): Promise<void> {
    const now = performance.now()
    const pieces = [...this.#watched.values()]
      .filter(({ live, progress }) => this.#isDue(live, now - progress.storedAt))
      .flatMap(({ live, progress }) => nextPiece(live, progress))
    if (pieces.length === 0) return
    try {
      const { runs, peers } = this.#parts
      for (const { id } of await runs.append(peers.id(), pieces)) this.#confirm(id, now)
    } catch (error) {
      await Bun.sleep(outageIntervalMs)
      throw error
    }
    const dueMs = (pieces.length * 1000) / maxPiecesPerSecond
    if (dueMs > intervalMs) await Bun.sleep(dueMs - intervalMs)
  }

  /** Whether to store the events of a run now; other processes may have readers. */
  #isDue(live: LiveResponse, ageMs: number): boolean {
    const isRead = live.awaited || this.#parts.peers.count() > 1
    return this.#parts.owned.isCurrent(live) && (isRead || ageMs >= unreadIntervalMs)
  }

  #confirm(id: string, now: number): void {
    const { live, progress } = this.#watched.get(id) ?? {}
    if (live === undefined || progress?.unconfirmed === undefined) return
    followRestart(live, progress)
    progress.events = progress.unconfirmed.events
    progress.pieces += 1
    progress.storedAt = now
    progress.unconfirmed = undefined
    live.markStored(progress.events)
    // From now on, other processes can send them to their readers.
    if (this.#parts.peers.count() > 1) live.markSeen(progress.events)
  }
}

function nextPiece(live: LiveResponse, progress: Progress): readonly LogPiece[] {
  followRestart(live, progress)
  const { length } = live.events
  if (live.finished || (progress.unconfirmed === undefined && length === progress.events)) return []
  progress.unconfirmed ??= { entries: encodeEvents(live.events.slice(progress.events)), events: length }
  const { organization, id } = live
  return [{ organization, id, position: progress.pieces, entries: progress.unconfirmed.entries }]
}

/** Of an answer that has started again only the beginning counts as stored: the next piece has the events of the other answer. */
function followRestart(live: LiveResponse, progress: Progress): void {
  const { keptAtRestart: kept } = live
  if (kept === undefined || progress.restarted) return
  progress.restarted = true
  progress.events = Math.min(progress.events, kept)
  const { unconfirmed } = progress
  if (unconfirmed) progress.unconfirmed = { ...unconfirmed, events: Math.min(unconfirmed.events, kept) }
}
