import { ApiError } from '../../lib/errors/errors.ts'
import type { AcquireMemory } from '../../lib/memory-budget.ts'
import type { Responses, StoredResponse } from '../../storage/ports/responses.ts'
import { readStored } from '../../storage/ports/stored-json.ts'
import { decodeEvents } from './events/event-log.ts'
import type { ResponseState } from './events/state.ts'
import { type SharedResponses, streamFollowed } from './live/followed-responses.ts'
import { LiveResponse } from './live/live-response.ts'
import type { LiveResponses } from './live/live-responses.ts'
import { replay, type ReplayOptions, type ResponseEventStream, streamLive } from './live/replay.ts'
import { fromStoredHead, stateOf } from './stored-response.ts'

/**
 * Where responses are found: in memory while this process generates them, in the database otherwise. `shared` is undefined
 * for a process that is alone.
 */
export type ResponseStores = {
  readonly live: LiveResponses
  readonly responses: Responses
  readonly shared?: SharedResponses | undefined
}

/** The current state of a response of the organization. Throws 404 if there is none. */
export async function findState(
  organization: string,
  id: string,
  stores: ResponseStores,
  hold?: AcquireMemory,
): Promise<ResponseState> {
  const live = stores.live.find(organization, id)
  if (live) return await newestState(live, stores, hold)
  const stored = await stores.responses.find(organization, id, hold)
  if (stored === undefined) throw responseNotFound(id)
  return readStored(`response ${id}`, () => stateOf(stored))
}

/** Of a response whose end is being stored, other processes may know the end already. */
async function newestState(
  live: LiveResponse,
  { responses, shared }: ResponseStores,
  hold?: AcquireMemory,
): Promise<ResponseState> {
  if (shared === undefined || !live.ending) return live.state
  const { organization, id } = live
  // Without the database, its end is not stored.
  const stored = await responses.find(organization, id, hold).catch(ignoreUnavailable)
  if (stored === undefined || isUnfinished(stored)) return live.state
  return readStored(`response ${id}`, () => stateOf(stored))
}

function ignoreUnavailable(error: unknown): undefined {
  if (!(error instanceof ApiError) || error.status !== 503) throw error
}

/** Streams a response in progress, or replays a finished one. Throws 404 if there is none. */
export async function openEventStream(
  organization: string,
  id: string,
  options: ReplayOptions,
  stores: ResponseStores,
  hold?: AcquireMemory,
): Promise<ResponseEventStream> {
  const found = openInMemory(organization, id, options, stores)
  if (found) return found
  const stored = await stores.responses.find(organization, id, hold)
  if (stored === undefined) throw responseNotFound(id)
  const { shared } = stores
  if (shared === undefined || !isUnfinished(stored))
    return replay(id, fromStoredHead(stored.head), stored.log, options)
  // In the meantime, this process may have started the run, or another client may follow it.
  return (
    openInMemory(organization, id, options, stores) ??
    streamFollowed(toLive(organization, stored), stored.pieces, shared, options)
  )
}

function openInMemory(
  organization: string,
  id: string,
  options: ReplayOptions,
  { live: executed, shared }: ResponseStores,
): ResponseEventStream | undefined {
  const live = executed.find(organization, id)
  if (live) return streamLive(live, options)
  const others = shared?.waiting.find(organization, id) ?? shared?.followed.find(organization, id)
  return shared && others && streamFollowed(others, 0, shared, options)
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
