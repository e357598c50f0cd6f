import { causeOf, type Log } from '../../../lib/log.ts'
import { repeatEvery } from '../../../lib/time.ts'
import type { Responses } from '../../../storage/ports/responses.ts'
import type { LogPiece, RunKey } from '../../../storage/ports/run-claims.ts'
import { encodeEvents } from '../events/event-log.ts'
import type { LiveResponse } from '../live/live-response.ts'
import type { RunSharing } from './shared/run-sharing.ts'
import type { SharedOwnership } from './shared/shared-ownership.ts'

/** Stores the events of active runs: from then on, readers receive them, and a crash loses only the later ones. */
export type Checkpoints = {
  watch(live: LiveResponse): void
  unwatch(live: LiveResponse): void
  stop(): void
}

const defaultIntervalMs = 50
/** The interval for a run without readers in a process that is alone. */
const unreadIntervalMs = 1000
/** With many runs, the interval is longer, so that a process writes no more pieces than that in a second. */
const maxPiecesPerSecond = 4000
/** The interval while the database is unavailable. */
const outageIntervalMs = 1000

/** The checkpoints of a process that does not share its database: frequent only for runs with readers. */
export function createSoleCheckpoints(
  responses: Pick<Responses, 'append'>,
  log: Log,
  intervalMs?: number,
): Checkpoints {
  const appendOne = ({ organization, id, position, entries }: LogPiece) =>
    responses.append(organization, id, position, entries)
  const append = async (pieces: readonly LogPiece[]) => {
    await Promise.all(pieces.map(appendOne))
    return pieces
  }
  const isDue = (live: LiveResponse, ageMs: number) => live.awaited || ageMs >= unreadIntervalMs
  return new PeriodicCheckpoints({ append, isDue, log }, intervalMs)
}

/** The checkpoints of a process among others, where any of them may have readers: one statement for all runs. */
export function createSharedCheckpoints(
  { process, claims }: Pick<RunSharing, 'process' | 'claims'>,
  { isCurrent }: Pick<SharedOwnership, 'isCurrent'>,
  log: Log,
  intervalMs?: number,
): Checkpoints {
  const append = (pieces: readonly LogPiece[]) => claims.append(process.id(), pieces)
  return new PeriodicCheckpoints({ append, isDue: isCurrent, log }, intervalMs)
}

type CheckpointDependencies = {
  /** Resolves with the runs whose pieces are stored. */
  readonly append: (pieces: readonly LogPiece[]) => Promise<readonly RunKey[]>
  /** Whether to store the events of a run whose last piece was stored this long ago. */
  readonly isDue: (live: LiveResponse, ageMs: number) => boolean
  readonly log: Log
}

/**
 * How much of the log is stored beyond that of the row itself: `pieces` is the position of the next one. A piece is sent
 * again unchanged if it may have been stored, because others may have read it.
 */
type Progress = { events: number; pieces: number; storedAt: number; unconfirmed: Piece | undefined }
type Piece = { readonly entries: string; readonly events: number }

class PeriodicCheckpoints implements Checkpoints {
  readonly #parts: CheckpointDependencies
  readonly #intervalMs: number
  readonly #watched = new Map<string, { readonly live: LiveResponse; readonly progress: Progress }>()
  #timer: { stop(): void } | undefined

  constructor(parts: CheckpointDependencies, intervalMs = defaultIntervalMs) {
    this.#parts = parts
    this.#intervalMs = intervalMs
  }

  watch(live: LiveResponse): void {
    const progress = {
      events: live.events.length,
      pieces: 0,
      storedAt: performance.now(),
      unconfirmed: undefined,
    }
    this.#watched.set(live.id, { live, progress })
    this.#timer ??= repeatEvery(
      this.#intervalMs,
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
    const due = [...this.#watched.values()].filter(({ live, progress }) =>
      this.#parts.isDue(live, now - progress.storedAt),
    )
    const pieces = due.flatMap(({ live, progress }) => nextPiece(live, progress))
    if (pieces.length === 0) return
    try {
      for (const { id } of await this.#parts.append(pieces)) this.#confirm(id, now)
    } catch (error) {
      await Bun.sleep(outageIntervalMs)
      throw error
    }
    const dueMs = (pieces.length * 1000) / maxPiecesPerSecond
    if (dueMs > this.#intervalMs) await Bun.sleep(dueMs - this.#intervalMs)
  }

  #confirm(id: string, now: number): void {
    const { live, progress } = this.#watched.get(id) ?? {}
    if (live === undefined || progress?.unconfirmed === undefined) return
    progress.events = progress.unconfirmed.events
    progress.pieces += 1
    progress.storedAt = now
    progress.unconfirmed = undefined
    live.markStored(progress.events)
  }
}

function nextPiece(live: LiveResponse, progress: Progress): readonly LogPiece[] {
  const { length } = live.events
  if (live.finished || (progress.unconfirmed === undefined && length === progress.events)) return []
  progress.unconfirmed ??= { entries: encodeEvents(live.events.slice(progress.events)), events: length }
  const { organization, id } = live
  return [{ organization, id, position: progress.pieces, entries: progress.unconfirmed.entries }]
}
