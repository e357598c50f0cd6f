import type { RequestMetadata } from '../../../domain/accounting/request-metadata.ts'
import { interrupted, serviceUnavailable, runCancelled } from '../../../lib/errors/errors.ts'
import { withTimeout } from '../../../lib/time.ts'
import type { RunOwner } from '../../../storage/ports/responses.ts'
import type { LiveResponse } from '../live/live-response.ts'
import { createActiveRuns } from './active-runs.ts'
import { cancelTimeoutMs, endNotStored } from './cancel-timeout.ts'
import { createSharedCheckpoints, createSoleCheckpoints } from './checkpoints.ts'
import { type ClaimSlot, createSlotClaims, type SharedQueueLimits } from './queue-limits.ts'
import { createSoleOwnership } from './run-ownership.ts'
import { RunScheduler } from './run-scheduler.ts'
import type { Run, RunDependencies } from './run.ts'
import { RunExchange } from './shared/run-exchange.ts'
import type { RunSharing } from './shared/run-sharing.ts'
import { createSharedOwnership } from './shared/shared-ownership.ts'

/** The background runs of this process. Their concurrency is limited; organizations take turns in the queue. */
export type Runs = {
  readonly claimSlot: ClaimSlot
  /** The owner to store with a run that is about to be queued; undefined if this process does not share the database. */
  ownerOf(metadata: RequestMetadata): RunOwner | undefined
  add(run: Run): void
  /** Continues the runs that an earlier process has left, and begins to exchange runs with other processes. */
  begin(waiting: readonly Run[]): Promise<void>
  /** Starts the runs that the current settings allow. */
  schedule(): void
  /** Cancels a run; resolves when its end is stored. A run that has already ended is not changed. */
  cancel(live: LiveResponse): Promise<void>
  counts(): { readonly queued: number; readonly running: number }
  /** The runs of the other processes of the database; undefined if this one is alone. */
  readonly exchange: RunExchange | undefined
  /** Starts no runs from now on. */
  pause(): void
  /** Resolves when all runs that were started or cancelled have ended. */
  idle(): Promise<void>
  /** Ends the runs that were started; resolves when that is stored. The next process starts the queued ones. */
  stop(): Promise<void>
}

/** The background runs with these dependencies, none yet. `sharing` is absent for a process that is alone. */
export function createRuns(input: RunInput, sharing?: RunSharing): Runs {
  const { parts, active, scheduler, exchange, claimSlot } = assemble(input, sharing)
  let stopping = false

  function pause(): void {
    stopping = true
    scheduler.pause()
    exchange?.pause()
  }

  const add = (run: Run) => addTo(scheduler, run, parts)

  return {
    claimSlot(organization) {
      // Such a run would be stored, and lost from memory.
      if (stopping) throw serviceUnavailable('The gateway is shutting down.')
      return claimSlot(organization)
    },
    ownerOf: (metadata) => sharing && { process: sharing.process.id(), request: metadata.id },
    add,
    async begin(waiting) {
      waiting.forEach(add)
      await exchange?.begin()
    },
    schedule: () => scheduler.schedule(),
    async cancel(live) {
      const run = scheduler.queue.remove(live)
      if (run) active.drop(run, runCancelled())
      else active.abort(live, runCancelled())
      await withTimeout(untilFinished(live), cancelTimeoutMs, endNotStored)
    },
    counts: () => ({ queued: scheduler.queue.size, running: active.size() }),
    exchange,
    pause,
    idle: active.idle,
    async stop() {
      pause()
      exchange?.stop()
      await active.stop(interrupted())
    },
  }
}

function addTo(scheduler: RunScheduler, run: Run, { ownership }: RunDependencies): void {
  if (ownership.add(run.live)) return scheduler.add(run)
  // It is queued already, because the answer that it was stored took long.
  run.slot.release()
  run.leaveQueue?.()
}

type RunInput = Omit<RunDependencies, 'ownership'>

function assemble(input: RunInput, sharing: RunSharing | undefined) {
  const { parts, checkpoints } = sharing ? sharedParts(input, sharing) : soleParts(input)
  const active = createActiveRuns(parts, checkpoints)
  const scheduler = new RunScheduler(active, parts)
  const exchange = sharing && new RunExchange(sharing, { active, scheduler, parts })
  const maxQueued = () => parts.current().maxQueued
  const claimSlot = createSlotClaims(scheduler.queue, maxQueued, sharing && queueLimitsOf(sharing))
  return { parts, active, scheduler, exchange, claimSlot }
}

function queueLimitsOf({ claims, recovery }: RunSharing): SharedQueueLimits | undefined {
  const { queuedRuns: slots } = recovery.limits
  return slots && { slots, countQueued: claims.countQueued }
}

function soleParts(input: RunInput) {
  const { responses, live, log } = input
  const ownership = createSoleOwnership(responses, live)
  return { parts: { ...input, ownership }, checkpoints: createSoleCheckpoints(responses, log) }
}

function sharedParts(input: RunInput, sharing: RunSharing) {
  const ownership = createSharedOwnership(sharing, input.live)
  return {
    parts: { ...input, ownership },
    checkpoints: createSharedCheckpoints(sharing, ownership, input.log),
  }
}

async function untilFinished(live: LiveResponse): Promise<void> {
  while (!live.finished) await new Promise<void>((resolve) => live.onNextEvent(resolve))
}
