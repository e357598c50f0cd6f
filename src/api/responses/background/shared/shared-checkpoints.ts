import { causeOf, type Log } from '../../../../lib/log.ts'
import { repeatEvery } from '../../../../lib/time.ts'
import { encodeEvents } from '../../events/event-log.ts'
import type { LogPiece } from '../../../../storage/ports/run-claims.ts'
import type { LiveResponse } from '../../live/live-response.ts'
import type { Checkpoints } from '../checkpoints.ts'
import type { RunSharing } from './run-sharing.ts'
import type { SharedOwnership } from './shared-ownership.ts'

const defaultIntervalMs = 50
/** With many runs, the interval is longer, so that a process writes no more pieces than that in a second. */
const maxPiecesPerSecond = 4000
/** The interval while the database is unavailable. */
const outageIntervalMs = 1000

/**
 * How much of the log is stored beyond that of the row itself: `pieces` is the position of the next one. A piece is sent
 * again unchanged if it may have been stored, because others may have read it.
 */
type Progress = { events: number; pieces: number; unconfirmed: Piece | undefined }
type Piece = { readonly entries: string; readonly events: number }

/** Stores the events of all active runs in one statement, often enough for those who follow them in other processes. */
export function createSharedCheckpoints(
  { process, claims }: Pick<RunSharing, 'process' | 'claims'>,
  { isCurrent }: Pick<SharedOwnership, 'isCurrent'>,
  log: Log,
  intervalMs = defaultIntervalMs,
): Checkpoints {
  const watched = new Map<string, { readonly live: LiveResponse; readonly progress: Progress }>()
  const onFailure = (error: unknown) =>
    log.warn('The latest events of background runs could not be stored yet.', { cause: causeOf(error) })
  const timer = repeatEvery(intervalMs, storeAll, onFailure)

  async function storeAll(): Promise<void> {
    const pieces = [...watched.values()].flatMap(({ live, progress }) =>
      isCurrent(live) ? nextPiece(live, progress) : [],
    )
    if (pieces.length === 0) return
    try {
      const appended = await claims.append(process.id(), pieces)
      for (const { id } of appended) confirmPiece(watched.get(id)?.progress)
    } catch (error) {
      await Bun.sleep(outageIntervalMs)
      throw error
    }
    const dueMs = (pieces.length * 1000) / maxPiecesPerSecond
    if (dueMs > intervalMs) await Bun.sleep(dueMs - intervalMs)
  }

  return {
    watch(live) {
      const progress = { events: live.events.length, pieces: 0, unconfirmed: undefined }
      watched.set(live.id, { live, progress })
    },
    unwatch: (live) => void watched.delete(live.id),
    stop: timer.stop,
  }
}

function nextPiece(live: LiveResponse, progress: Progress): readonly LogPiece[] {
  const { length } = live.events
  if (live.finished || (progress.unconfirmed === undefined && length === progress.events)) return []
  progress.unconfirmed ??= { entries: encodeEvents(live.events.slice(progress.events)), events: length }
  const { organization, id } = live
  return [{ organization, id, position: progress.pieces, entries: progress.unconfirmed.entries }]
}

function confirmPiece(progress: Progress | undefined): void {
  if (progress?.unconfirmed === undefined) return
  progress.events = progress.unconfirmed.events
  progress.pieces += 1
  progress.unconfirmed = undefined
}
