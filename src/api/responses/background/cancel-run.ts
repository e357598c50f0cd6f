import { badRequest } from '../../../lib/errors/errors.ts'
import type { AcquireMemory } from '../../../lib/memory-budget.ts'
import { isFinished, type ResponseState } from '../events/state.ts'
import { findState, type ResponseStores } from '../find-response.ts'
import type { Runs } from './runs.ts'

/**
 * Cancels a background run and returns the state of its response once the end is stored. A response that is already
 * cancelled, or incomplete for another reason, is returned unchanged; any other one that has ended is a 400.
 */
export async function cancelResponse(
  organization: string,
  id: string,
  runs: Runs,
  stores: ResponseStores,
  hold?: AcquireMemory,
): Promise<ResponseState> {
  const found = await findState(organization, id, stores, hold)
  if (!found.head.background) throw notCancellable('Cannot cancel a synchronous response.')
  const live = isFinished(found) ? undefined : stores.live.find(organization, id)
  if (live) await runs.cancel(live)
  // The run may have ended in another way before the cancellation reached it.
  const state = live?.state ?? found
  if (state.status === 'incomplete') return state
  throw notCancellable(`Cannot cancel a ${state.status} response.`)
}

function notCancellable(message: string): Error {
  return badRequest(message, null, null)
}
