import type { RequestMetadata } from '../../../domain/accounting/request-metadata.ts'
import { interrupted, serviceUnavailable } from '../../../lib/errors/errors.ts'
import type { RunOwner } from '../../../storage/ports/responses.ts'
import type { RunKey } from '../../../storage/ports/run-store.ts'
import { ActiveRuns } from './active-runs.ts'
import { RunCoordinator } from './coordinator.ts'
import { OwnedRuns } from './owned-runs.ts'
import { type ClaimSlot, createSlotClaims } from './queue-limits.ts'
import type { Run, RunDependencies } from './run.ts'
import { Scheduler } from './scheduler.ts'

/** The background runs of this process. Their concurrency is limited; organizations take turns in the queue. */
export type Runs = {
  readonly claimSlot: ClaimSlot
  /** The owner to store with a run that is about to be queued. */
  ownerOf(metadata: RequestMetadata): RunOwner
  add(run: Run): void
  /** Adopts the runs that processes which have ended left, and begins to divide runs with other processes. */
  begin(): Promise<void>
  /** Adopts the runs that evicted processes left. */
  recover(): Promise<void>
  /** Ends the runs of this process, because the others have evicted it. */
  onEvicted(): void
  /** Starts the runs that the current settings allow. */
  schedule(): void
  /** Cancels an unfinished run, whichever process has it; its end may be stored later. */
  cancel(run: RunKey): Promise<void>
  counts(): { readonly queued: number; readonly running: number }
  /** Starts no runs from now on. */
  pause(): void
  /** Resolves when all runs that were started or cancelled have ended. */
  idle(): Promise<void>
  /** Ends the runs that were started; resolves when that is stored. The next process starts the queued ones. */
  stop(): Promise<void>
}

/** The background runs with these dependencies, none yet. */
export function createRuns(dependencies: RunDependencies): Runs {
  const parts = { ...dependencies, owned: new OwnedRuns(dependencies) }
  const active = new ActiveRuns(parts)
  const scheduler = new Scheduler(active, parts)
  const coordinator = new RunCoordinator(parts, active, scheduler)
  const claimSlot = createSlotClaims(scheduler.queue, parts)
  let stopping = false

  function pause(): void {
    stopping = true
    scheduler.pause()
    coordinator.pause()
  }

  return {
    async claimSlot(organization) {
      // Such a run would be stored, and lost from memory.
      if (stopping) throw serviceUnavailable('The gateway is shutting down.')
      return await claimSlot(organization)
    },
    ownerOf: ({ id: request }) => ({ process: parts.peers.id(), request }),
    add: (run) => coordinator.add(run),
    begin: () => coordinator.begin(),
    recover: () => coordinator.recover(),
    onEvicted: () => coordinator.onEvicted(),
    schedule: () => scheduler.schedule(),
    cancel: (run) => coordinator.cancel(run),
    counts: () => ({ queued: scheduler.queue.size, running: active.size }),
    pause,
    idle: () => active.idle(),
    async stop() {
      pause()
      coordinator.stop()
      await active.stop(interrupted())
    },
  }
}
