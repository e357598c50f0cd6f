import { interrupted, runCancelled, serviceUnavailable } from '../../../lib/errors/errors.ts'
import { withTimeout } from '../../../lib/time.ts'
import type { LiveResponse } from '../live/live-response.ts'
import { type ClaimPlace, createClaims } from './queue-bounds.ts'
import type { Run, RunParts } from './run.ts'
import { createUnderwayRuns } from './underway-runs.ts'
import { WaitingRuns } from './waiting-runs.ts'

/** The background runs of this process: so many at a time; the others wait, and their organizations take turns. */
export type Runs = {
  readonly claim: ClaimPlace
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
  const underway = createUnderwayRuns(parts)
  const waiting = new WaitingRuns(underway, parts)
  const claim = createClaims(waiting.queue, () => parts.current().maxQueued)
  let stopping = false

  function hold(): void {
    stopping = true
    waiting.hold()
  }

  return {
    claim(organization) {
      if (stopping) throw serviceUnavailable('The gateway is stopping.')
      return claim(organization)
    },
    add(run) {
      parts.live.add(run.live)
      waiting.add(run)
    },
    schedule: () => waiting.wake(),
    async cancel(live) {
      const run = waiting.queue.take(live)
      if (run) underway.drop(run, runCancelled())
      else underway.abort(live, runCancelled())
      await withTimeout(ending(live), longestWait, notStored)
    },
    counts: () => ({ queued: waiting.queue.size, running: underway.size() }),
    pause: hold,
    idle: underway.quiet,
    async stop() {
      hold()
      await underway.stop(interrupted())
    },
  }
}

async function ending(live: LiveResponse): Promise<void> {
  while (!live.over) await new Promise<void>((grown) => live.whenGrown(grown))
}

function notStored(): Error {
  return serviceUnavailable('The end of the run could not be stored yet. Try again.')
}
