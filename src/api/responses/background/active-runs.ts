import type { ConcurrencySlot } from '../../../gateway/rate-limits/admission.ts'
import { interrupted } from '../../../lib/errors/errors.ts'
import { causeOf } from '../../../lib/log.ts'
import { settleWithin } from '../../../lib/time.ts'
import type { LiveResponse } from '../live/live-response.ts'
import type { Checkpoints } from './checkpoints.ts'
import { dropRun, executeRun } from './execute-run.ts'
import type { Run, RunDependencies } from './run.ts'

/** The runs that were started or dropped, each until its end is stored. */
export type ActiveRuns = {
  /** Executes a run; resolves when it has ended, with or without an error. */
  start(run: Run, slot: ConcurrencySlot): Promise<void>
  /** Ends a run that was not started. */
  drop(run: Run, error: unknown): void
  /** Ends a run that was started; does nothing for any other response. */
  abort(live: LiveResponse, error: unknown): void
  /** The number of runs that were started and have not ended. */
  size(): number
  /** The responses of these runs. */
  responses(): readonly LiveResponse[]
  /** Resolves when all runs have ended. */
  idle(): Promise<void>
  /** Ends all runs with the error. The next process ends those whose end could not be stored in time. */
  stop(error: unknown): Promise<void>
}

/** For the ends of all runs to be stored when the process stops. */
const stopTimeoutMs = 10_000

/** An empty set of active runs, of which `checkpoints` stores the events. */
export function createActiveRuns(parts: RunDependencies, checkpoints: Checkpoints): ActiveRuns {
  const started = new Map<LiveResponse, AbortController>()
  const ends = new Set<Promise<void>>()
  const abandoned = new AbortController()

  /** If the end is not stored, the response stays in progress in the database until the next start ends it. */
  async function track(end: Promise<void>): Promise<void> {
    ends.add(end)
    await end.catch((error) => {
      parts.log.error('The result of a background run could not be stored.', { cause: causeOf(error) })
    })
    ends.delete(end)
  }

  const idle = async () => void (await Promise.allSettled(ends))

  return {
    async start(run, slot) {
      const abort = new AbortController()
      started.set(run.live, abort)
      checkpoints.watch(run.live)
      await track(executeRun(run, slot, { abort: abort.signal, abandoned: abandoned.signal }, parts))
      checkpoints.unwatch(run.live)
      started.delete(run.live)
    },
    drop: (run, error) => void track(dropRun(run, error, abandoned.signal, parts)),
    abort: (live, error) => started.get(live)?.abort(error),
    size: () => started.size,
    responses: () => [...started.keys()],
    idle,
    async stop(error) {
      for (const abort of started.values()) abort.abort(error)
      await settleWithin(idle(), stopTimeoutMs)
      abandoned.abort(interrupted())
      checkpoints.stop()
    },
  }
}
