import { ApiError } from '../../lib/errors/errors.ts'
import type { AcquireMemory } from '../../lib/memory-budget.ts'
import type { Responses, StoredResponse } from '../../storage/ports/responses.ts'
import { readStored } from '../../storage/ports/stored-json.ts'
import type { ResponseState } from './events/state.ts'
import type { LiveResponses } from './live/live-responses.ts'
import { replay, type ReplayOptions, type ResponseEventStream, streamLive } from './live/replay.ts'
import { fromStoredHead, stateOf } from './stored-response.ts'

/** Where responses are found: in memory while they are in progress, in the database from then on. */
export type ResponseStores = {
  readonly live: LiveResponses
  readonly responses: Responses
}

/** The current state of a response of the organization. Throws 404 if there is none. */
export async function findState(
  organization: string,
  id: string,
  stores: ResponseStores,
  hold?: AcquireMemory,
): Promise<ResponseState> {
  const live = stores.live.find(organization, id)
  if (live) return live.state
  const stored = await findStored(organization, id, stores, hold)
  return readStored(`response ${id}`, () => stateOf(stored))
}

/** Streams a live response, or replays a stored one. Throws 404 if there is none. */
export async function openEventStream(
  organization: string,
  id: string,
  options: ReplayOptions,
  stores: ResponseStores,
  hold?: AcquireMemory,
): Promise<ResponseEventStream> {
  const live = stores.live.find(organization, id)
  if (live) return streamLive(live, options)
  const stored = await findStored(organization, id, stores, hold)
  return replay(id, fromStoredHead(stored.head), stored.log, options)
}

async function findStored(
  organization: string,
  id: string,
  { responses }: ResponseStores,
  hold?: AcquireMemory,
): Promise<StoredResponse> {
  const stored = await responses.find(organization, id, hold)
  if (stored === undefined) throw responseNotFound(id)
  return stored
}

/** The 404 for a response that was never stored, was deleted, or belongs to another organization. */
export function responseNotFound(id: string): ApiError {
  return new ApiError(404, `Response with id '${id.slice(0, 100)}' not found.`, {
    type: 'invalid_request_error',
  })
}
