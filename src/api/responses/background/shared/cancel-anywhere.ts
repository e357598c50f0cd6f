import { runCancelled } from '../../../../lib/errors/errors.ts'
import type { RunKey } from '../../../../storage/ports/run-claims.ts'
import type { RunQueue } from '../run-queue.ts'
import { RunEnds } from './run-ends.ts'
import type { RunSharing } from './run-sharing.ts'
import type { RunTargets, TakeOver } from './take-over.ts'

/** What cancelling needs of this process. */
export type CancelDependencies = Pick<RunTargets, 'drop'> & {
  readonly sharing: RunSharing
  readonly queue: RunQueue
  readonly takeOver: TakeOver
  readonly recover: () => Promise<void>
}

/**
 * Returns a function that cancels an unfinished run, whichever process has it, and resolves when its end is stored. A queued
 * run is taken from its owner and ends here; the owner of a started one is asked to end it. Rejects with 503 if that takes
 * too long. Clients that cancel the same run share one cancellation.
 */
export function createCancellation(parts: CancelDependencies): (run: RunKey) => Promise<void> {
  const pending = new Map<string, Promise<void>>()
  const ends = new RunEnds({ claims: parts.sharing.claims, recover: parts.recover })
  return async (run) => {
    const cancelled = pending.get(run.id) ?? cancel(run, parts, ends).finally(() => pending.delete(run.id))
    pending.set(run.id, cancelled)
    await cancelled
  }
}

async function cancel(
  run: RunKey,
  { sharing, queue, takeOver, drop }: CancelDependencies,
  ends: RunEnds,
): Promise<void> {
  const { process, claims, waiting } = sharing
  const owner = process.id()
  if (await claims.withdraw(owner, run)) {
    const live = waiting.find(run.organization, run.id)
    const queued = live && queue.remove(live)
    if (queued) drop(queued, runCancelled())
    else await takeOver.continue(owner, [run])
  } else await claims.requestCancel(run)
  await ends.wait(run)
}
