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
  // The run may have ended in another way before the cancellation reached it.
  const state = isFinished(found)
    ? found
    : await cancelUnfinished(found, organization, id, runs, stores, hold)
  if (state.status === 'incomplete') return state
  throw notCancellable(`Cannot cancel a ${state.status} response.`)
}

async function cancelUnfinished(
  found: ResponseState,
  organization: string,
  id: string,
  runs: Runs,
  stores: ResponseStores,
  hold?: AcquireMemory,
): Promise<ResponseState> {
  const live = stores.live.find(organization, id)
  if (live) {
    await runs.cancel(live)
    return live.state
  }
  if (runs.exchange === undefined) return found
  await runs.exchange.cancel({ organization, id })
  return await findState(organization, id, stores, hold)
}

function notCancellable(message: string): Error {
  return badRequest(message, null, null)
}
