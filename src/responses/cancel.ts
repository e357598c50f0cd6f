import { badRequest } from '../lib/errors.ts'
import type { Hold } from '../lib/memory-budget.ts'
import type { Runs } from './runs/runs.ts'
import { type Shelves, stateNow } from './reading.ts'
import { type ResponseState, over } from './reduce/state.ts'

/** Ends a background run, and gives the response that is left; a second time changes nothing. */
export async function cancelResponse(
  organization: string,
  id: string,
  runs: Runs,
  shelves: Shelves,
  hold?: Hold,
): Promise<ResponseState> {
  const found = await stateNow(organization, id, shelves, hold)
  if (!found.head.background) throw notCancellable('Cannot cancel a synchronous response.')
  const live = over(found) ? undefined : shelves.live.find(organization, id)
  if (live) await runs.cancel(live)
  // It may have come to another end in this moment.
  const state = live?.state ?? found
  if (state.status === 'incomplete') return state
  throw notCancellable(`Cannot cancel a ${state.status} response.`)
}

function notCancellable(message: string): Error {
  return badRequest(message, null, null)
}
