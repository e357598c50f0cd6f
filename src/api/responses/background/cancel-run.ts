import { badRequest, serviceUnavailable } from '../../../lib/errors/errors.ts'
import type { AcquireMemory } from '../../../lib/memory-budget.ts'
import { withTimeout } from '../../../lib/time.ts'
import type { RunKey } from '../../../storage/ports/run-store.ts'
import { isFinished, type ResponseState } from '../events/state.ts'
import { findLive, findState, type ResponseStores } from '../find-response.ts'
import type { Runs } from './runs.ts'

/** For the end of a cancelled run to be stored, while the client waits. */
const cancelTimeoutMs = 10_000

/**
 * Cancels a background run and returns the state of its response once the end is stored. A response that is already
 * cancelled, or incomplete for another reason, is returned unchanged; any other one that has ended is a 400.
 */
export async function cancelResponse(
  organization: string,
  id: string,
  runs: Runs,
  stores: ResponseStores,
  acquireMemory?: AcquireMemory,
): Promise<ResponseState> {
  const found = await findState(organization, id, stores, acquireMemory)
  if (!found.head.background) throw notCancellable('Cannot cancel a synchronous response.')
  if (!isFinished(found)) {
    const ended = cancelUnfinished({ organization, id }, runs, stores, acquireMemory)
    await withTimeout(ended, cancelTimeoutMs, endNotStored)
  }
  // The run may have ended in another way before the cancellation reached it.
  const state = isFinished(found) ? found : await findState(organization, id, stores, acquireMemory)
  if (state.status === 'incomplete') return state
  throw notCancellable(`Cannot cancel a ${state.status} response.`)
}

/** Cancels the run, and follows it until its end is stored, whichever process has it. */
async function cancelUnfinished(
  { organization, id }: RunKey,
  runs: Runs,
  stores: ResponseStores,
  acquireMemory?: AcquireMemory,
): Promise<void> {
  await runs.cancel({ organization, id })
  const found = await findLive(organization, id, stores, acquireMemory)
  if (found === undefined || !('live' in found)) return
  const { live, pieces } = found
  const unfollow = stores.followed.follow(live, pieces)
  while (!live.finished) await new Promise<void>((resolve) => live.onNextEvent(resolve))
  unfollow()
}

/** 503: the run is cancelled, but its end is not stored in time. */
function endNotStored(): Error {
  return serviceUnavailable('The result of the background run could not be stored yet. Try again.')
}

function notCancellable(message: string): Error {
  return badRequest(message, null, null)
}
