import { badRequest } from '../../lib/errors/errors.ts'
import type { Hold } from '../../lib/memory-budget.ts'
import type { Runs } from './background/runs.ts'
import { type ResponseStores, currentState } from './find-response.ts'
import { type ResponseState, finished } from './events/state.ts'

/** Ends a background run, and gives the response that is left; a second time changes nothing. */
export async function cancelResponse(
  organization: string,
  id: string,
  runs: Runs,
  shelves: ResponseStores,
  hold?: Hold,
): Promise<ResponseState> {
  const found = await currentState(organization, id, shelves, hold)
  if (!found.head.background) throw notCancellable('Cannot cancel a synchronous response.')
  const live = finished(found) ? undefined : shelves.live.find(organization, id)
  if (live) await runs.cancel(live)
  // It may have come to another end in this moment.
  const state = live?.state ?? found
  if (state.status === 'incomplete') return state
  throw notCancellable(`Cannot cancel a ${state.status} response.`)
}

function notCancellable(message: string): Error {
  return badRequest(message, null, null)
}
