import type { ConcurrencySlot } from '../../../gateway/rate-limits/admission.ts'
import { interrupted } from '../../../lib/errors/errors.ts'
import { causeOf } from '../../../lib/log.ts'
import { settleWithin } from '../../../lib/time.ts'
import type { LiveResponse } from '../live/live-response.ts'
import { createCheckpoints } from './checkpoints.ts'
import { dropRun, executeRun } from './execute-run.ts'
import type { Run, RunParts } from './run.ts'

/** The runs that have begun, or were given up, each until its end is stored. */
export type ActiveRuns = {
  /** Resolves when it is over, however it ended. */
  start(run: Run, call: ConcurrencySlot): Promise<void>
  /** Ends one that has not begun. */
  drop(run: Run, error: unknown): void
  /** Ends one that has begun; nothing where that is not so. */
  abort(live: LiveResponse, error: unknown): void
  /** How many have begun and are not over. */
  size(): number
  /** Resolves when all are over. */
  idle(): Promise<void>
  /** Ends all with the error; what cannot be stored in time is left to the next process. */
  stop(error: unknown): Promise<void>
}

/** Milliseconds for the ends of all runs to be stored when the process stops. */
const longestStop = 10_000

export function createActiveRuns(parts: RunParts): ActiveRuns {
  const begun = new Map<LiveResponse, AbortController>()
  const ends = new Set<Promise<void>>()
  const checkpoints = createCheckpoints(parts.responses, parts.log)
  const abandoned = new AbortController()

  /** One whose end is not stored is not over in the database: the next start ends it. */
  async function owned(end: Promise<void>): Promise<void> {
    ends.add(end)
    await end.catch((error) => {
      parts.log.error('The end of a background run was not stored.', { cause: causeOf(error) })
    })
    ends.delete(end)
  }

  const quiet = async () => void (await Promise.allSettled(ends))

  return {
    async start(run, call) {
      const abort = new AbortController()
      begun.set(run.live, abort)
      checkpoints.watch(run.live)
      await owned(executeRun(run, call, { abort: abort.signal, abandoned: abandoned.signal }, parts))
      checkpoints.unwatch(run.live)
      begun.delete(run.live)
    },
    drop: (run, error) => void owned(dropRun(run, error, abandoned.signal, parts)),
    abort: (live, error) => begun.get(live)?.abort(error),
    size: () => begun.size,
    idle: quiet,
    async stop(error) {
      for (const abort of begun.values()) abort.abort(error)
      await settleWithin(quiet(), longestStop)
      abandoned.abort(interrupted())
      checkpoints.stop()
    },
  }
}
