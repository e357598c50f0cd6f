import { ApiError } from '../../lib/errors/errors.ts'
import type { Hold } from '../../lib/memory-budget.ts'
import type { Responses, StoredResponse } from '../../storage/ports/responses.ts'
import { readStored } from '../../storage/ports/stored-json.ts'
import { type ResponseEventStream, streamLive, replay } from './live/replay.ts'
import type { LiveResponse } from './live/live-response.ts'
import type { LiveResponses } from './live/live-responses.ts'
import type { RenderOptions } from './render/render.ts'
import type { ResponseState } from './events/state.ts'
import { headIn, stateOf } from './stored-response.ts'

/** Where responses are found: while they are made, and from then on. */
export type ResponseStores = {
  readonly live: LiveResponses
  readonly responses: Responses
}

/** A response of the organization as it is now, or the 404. `hold` is asked for the bytes of one that is stored. */
export async function currentState(
  organization: string,
  id: string,
  shelves: ResponseStores,
  hold?: Hold,
): Promise<ResponseState> {
  const live = shelves.live.find(organization, id)
  if (live) return live.state
  const found = await stored(organization, id, shelves, hold)
  return readStored(`response ${id}`, () => stateOf(found))
}

/** Its events from the start, or those with numbers above `after`, or the 404. */
export async function openEventStream(
  organization: string,
  id: string,
  after: number | undefined,
  options: RenderOptions,
  shelves: ResponseStores,
  hold?: Hold,
): Promise<ResponseEventStream> {
  const following = { after, options }
  const live: LiveResponse | undefined = shelves.live.find(organization, id)
  if (live) return streamLive(live, following)
  const found = await stored(organization, id, shelves, hold)
  return replay(id, headIn(found.head), found.log, following)
}

async function stored(
  organization: string,
  id: string,
  { responses }: ResponseStores,
  hold?: Hold,
): Promise<StoredResponse> {
  const found = await responses.find(organization, id, hold)
  if (found === undefined) throw responseNotFound(id)
  return found
}

/** 404 for a response that is not there, not stored, deleted, or another organization's. */
export function responseNotFound(id: string): ApiError {
  return new ApiError(404, `Response with id '${id.slice(0, 100)}' not found.`, {
    type: 'invalid_request_error',
  })
}
