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
export type Runs = ReturnType<typeof createRuns>

/** The background runs with these dependencies, none yet. */
export function createRuns(dependencies: RunDependencies) {
  const parts = { ...dependencies, owned: new OwnedRuns(dependencies) }
  const active = new ActiveRuns(parts)
  const scheduler = new Scheduler(active, parts)
  const coordinator = new RunCoordinator(parts, active, scheduler)
  const claimSlot = createSlotClaims(scheduler.queue, parts)
  let stopping = false

  /** Starts no runs from now on. */
  function pause(): void {
    stopping = true
    scheduler.pause()
    coordinator.pause()
  }

  return {
    async claimSlot(organization: Parameters<ClaimSlot>[0]) {
      // Such a run would be stored, and lost from memory.
      if (stopping) throw serviceUnavailable('The gateway is shutting down.')
      return await claimSlot(organization)
    },
    /** The owner to store with a run that is about to be queued. */
    ownerOf: ({ id: request }: RequestMetadata): RunOwner => ({ process: parts.peers.id(), request }),
    add: (run: Run) => coordinator.add(run),
    /** Adopts the runs that processes which have ended left, and begins to divide runs with other processes. */
    begin: () => coordinator.begin(),
    /** Adopts the runs that evicted processes left. */
    recover: () => coordinator.recover(),
    /** Ends the runs of this process, because the others have evicted it. */
    onEvicted: () => coordinator.onEvicted(),
    /** Starts the runs that the current settings allow. */
    schedule: () => scheduler.schedule(),
    /** Cancels an unfinished run, whichever process has it; its end may be stored later. */
    cancel: (run: RunKey) => coordinator.cancel(run),
    counts: () => ({ queued: scheduler.queue.size, running: active.size }),
    pause,
    /** Resolves when all runs that were started or cancelled have ended. */
    idle: () => active.idle(),
    /** Ends the runs that were started; resolves when that is stored. The next process starts the queued ones. */
    async stop() {
      pause()
      coordinator.stop()
      await active.stop(interrupted())
    },
  }
}
