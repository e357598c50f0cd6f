import { interrupted, serviceUnavailable } from '../../../lib/errors/errors.ts'
import { runCancelled } from '../../../lib/errors/run-errors.ts'
import { withTimeout } from '../../../lib/time.ts'
import type { LiveResponse } from '../live/live-response.ts'
import { createActiveRuns } from './active-runs.ts'
import { type ClaimSlot, createSlotClaims } from './queue-limits.ts'
import { RunScheduler } from './run-scheduler.ts'
import type { Run, RunParts } from './run.ts'

/** The background runs of this process. Their concurrency is limited; organizations take turns in the queue. */
export type Runs = {
  readonly claimSlot: ClaimSlot
  add(run: Run): void
  /** Starts the runs that the current settings allow. */
  schedule(): void
  /** Cancels a run; resolves when its end is stored. A run that has already ended is not changed. */
  cancel(live: LiveResponse): Promise<void>
  counts(): { readonly queued: number; readonly running: number }
  /** Starts no runs from now on. */
  pause(): void
  /** Resolves when all runs that were started or cancelled have ended. */
  idle(): Promise<void>
  /** Ends the runs that were started; resolves when that is stored. The next process starts the queued ones. */
  stop(): Promise<void>
}

/** For the end of a cancelled run to be stored, while the client waits. */
const cancelTimeoutMs = 10_000

/** The background runs with these dependencies, none yet. */
export function createRuns(parts: RunParts): Runs {
  const active = createActiveRuns(parts)
  const scheduler = new RunScheduler(active, parts)
  const claimSlot = createSlotClaims(scheduler.queue, () => parts.current().maxQueued)
  let stopping = false

  function pause(): void {
    stopping = true
    scheduler.pause()
  }

  return {
    claimSlot(organization) {
      if (stopping) throw serviceUnavailable('The gateway is shutting down.')
      return claimSlot(organization)
    },
    add(run) {
      parts.live.add(run.live)
      scheduler.add(run)
    },
    schedule: () => scheduler.schedule(),
    async cancel(live) {
      const run = scheduler.queue.remove(live)
      if (run) active.drop(run, runCancelled())
      else active.abort(live, runCancelled())
      await withTimeout(untilFinished(live), cancelTimeoutMs, notStored)
    },
    counts: () => ({ queued: scheduler.queue.size, running: active.size() }),
    pause,
    idle: active.idle,
    async stop() {
      pause()
      await active.stop(interrupted())
    },
  }
}

async function untilFinished(live: LiveResponse): Promise<void> {
  while (!live.finished) await new Promise<void>((resolve) => live.onNextEvent(resolve))
}

function notStored(): Error {
  return serviceUnavailable('The result of the background run could not be stored yet. Try again.')
}
