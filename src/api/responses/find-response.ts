import { ApiError } from '../../lib/errors/errors.ts'
import type { AcquireMemory } from '../../lib/memory-budget.ts'
import { isUnavailable } from '../../storage/ports/health.ts'
import type { Responses, StoredResponse } from '../../storage/ports/responses.ts'
import { readStored } from '../../storage/ports/stored-json.ts'
import { decodeEvents } from './events/event-log.ts'
import type { ResponseState } from './events/state.ts'
import { type FollowedResponses, streamFollowed } from './live/followed-responses.ts'
import { LiveResponse, type LiveResponses } from './live/live-response.ts'
import { replay, type ReplayOptions, type ResponseEventStream } from './live/replay.ts'
import { fromStoredHead, stateOf } from './stored-response.ts'

/** Where responses are found: in memory while this process generates or follows them, in the database otherwise. */
export type ResponseStores = {
  readonly live: LiveResponses
  readonly followed: FollowedResponses
  readonly responses: Responses
}

/** The current state of a response of the organization. Throws 404 if there is none. */
export async function findState(
  organization: string,
  id: string,
  stores: ResponseStores,
  acquireMemory?: AcquireMemory,
): Promise<ResponseState> {
  const live = stores.live.find(organization, id)
  if (live) return await newestState(live, stores, acquireMemory)
  const stored = await stores.responses.find(organization, id, acquireMemory)
  if (stored === undefined) throw responseNotFound(id)
  return readStored(`response ${id}`, () => stateOf(stored))
}

/** Of a response whose end is being stored, other processes may know the end already, and have deleted it. */
async function newestState(
  live: LiveResponse,
  { responses }: ResponseStores,
  acquireMemory?: AcquireMemory,
): Promise<ResponseState> {
  if (!live.ending) return live.show()
  const { organization, id } = live
  try {
    const stored = await responses.find(organization, id, acquireMemory)
    // The row of a background run was there before its end.
    if (stored === undefined && live.head.background) throw responseNotFound(id)
    if (stored === undefined || isUnfinished(stored)) return live.show()
    return readStored(`response ${id}`, () => stateOf(stored))
  } catch (error) {
    // Without the database, its end is not stored.
    if (isUnavailable(error)) return live.show()
    throw error
  }
}

/** Streams a response in progress, or replays a finished one. Throws 404 if there is none. */
export async function openEventStream(
  organization: string,
  id: string,
  options: ReplayOptions,
  stores: ResponseStores,
  acquireMemory?: AcquireMemory,
): Promise<ResponseEventStream> {
  const found = await findLive(organization, id, stores, acquireMemory)
  if (found === undefined) throw responseNotFound(id)
  if ('live' in found) return streamFollowed(found.live, found.pieces, stores.followed, options)
  return replay(id, fromStoredHead(found.head), found.log, options)
}

/** A response in progress, and how many pieces of its log it has. */
type FoundLive = { readonly live: LiveResponse; readonly pieces: number }

/** Finds a response to follow; resolves with what is stored of one that has finished, and with undefined if there is none. */
export async function findLive(
  organization: string,
  id: string,
  stores: ResponseStores,
  acquireMemory?: AcquireMemory,
): Promise<FoundLive | StoredResponse | undefined> {
  const known = findKnown(organization, id, stores)
  if (known) return known
  const stored = await stores.responses.find(organization, id, acquireMemory)
  if (stored === undefined || !isUnfinished(stored)) return stored
  // In the meantime, this process may have started the run, or another client may follow it.
  return findKnown(organization, id, stores) ?? { live: toLive(organization, stored), pieces: stored.pieces }
}

function findKnown(
  organization: string,
  id: string,
  { live, followed }: ResponseStores,
): FoundLive | undefined {
  const known =
    live.find(organization, id) ?? live.findQueued(organization, id) ?? followed.find(organization, id)
  return known && { live: known, pieces: 0 }
}

/** A run that another process executes, as far as it is stored. */
function toLive(organization: string, { id, head, log }: StoredResponse): LiveResponse {
  return readStored(`response ${id}`, () => {
    const live = new LiveResponse(organization, fromStoredHead(head))
    for (const event of decodeEvents(log)) live.apply(event)
    live.markStored()
    return live
  })
}

/** Whether a stored response has yet to end. */
export function isUnfinished({ status }: StoredResponse): boolean {
  return status === 'queued' || status === 'in_progress'
}

/** The 404 for a response that was never stored, was deleted, or belongs to another organization. */
export function responseNotFound(id: string): ApiError {
  return new ApiError(404, `Response with id '${id.slice(0, 100)}' not found.`, {
    type: 'invalid_request_error',
  })
}
