import { interrupted, runCancelled, serviceUnavailable } from '../../../lib/errors/errors.ts'
import { withTimeout } from '../../../lib/time.ts'
import type { LiveResponse } from '../live/live-response.ts'
import { type ClaimSlot, createSlotClaims } from './queue-limits.ts'
import type { Run, RunParts } from './run.ts'
import { createActiveRuns } from './active-runs.ts'
import { RunScheduler } from './run-scheduler.ts'

/** The background runs of this process: so many at a time; the others wait, and their organizations take turns. */
export type Runs = {
  readonly claimSlot: ClaimSlot
  add(run: Run): void
  /** Begins those that may: other settings are in force. */
  schedule(): void
  /** Ends a run, and resolves when that is stored. One that has come to its end before stays as it ended. */
  cancel(live: LiveResponse): Promise<void>
  counts(): { readonly queued: number; readonly running: number }
  /** From now on none begins. */
  pause(): void
  /** Resolves when those that are under way, or were cancelled, are over. */
  idle(): Promise<void>
  /** Ends those that are under way; resolves when that is stored. Those that wait begin in the next process. */
  stop(): Promise<void>
}

/** Milliseconds for which a caller waits for the end of a run to be stored. */
const longestWait = 10_000

export function createRuns(parts: RunParts): Runs {
  const underway = createActiveRuns(parts)
  const waiting = new RunScheduler(underway, parts)
  const claim = createSlotClaims(waiting.queue, () => parts.current().maxQueued)
  let stopping = false

  function hold(): void {
    stopping = true
    waiting.pause()
  }

  return {
    claimSlot(organization) {
      if (stopping) throw serviceUnavailable('The gateway is stopping.')
      return claim(organization)
    },
    add(run) {
      parts.live.add(run.live)
      waiting.add(run)
    },
    schedule: () => waiting.schedule(),
    async cancel(live) {
      const run = waiting.queue.remove(live)
      if (run) underway.drop(run, runCancelled())
      else underway.abort(live, runCancelled())
      await withTimeout(ending(live), longestWait, notStored)
    },
    counts: () => ({ queued: waiting.queue.size, running: underway.size() }),
    pause: hold,
    idle: underway.idle,
    async stop() {
      hold()
      await underway.stop(interrupted())
    },
  }
}

async function ending(live: LiveResponse): Promise<void> {
  while (!live.finished) await new Promise<void>((grown) => live.onNextEvent(grown))
}

function notStored(): Error {
  return serviceUnavailable('The end of the run could not be stored yet. Try again.')
}
