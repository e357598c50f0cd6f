import { rateLimited, serviceUnavailable } from '../../../lib/errors/errors.ts'
import type { RunQueue } from './run-queue.ts'

/** Each queued run keeps some memory: so many of them, and so many characters in all, and of one organization. */
const maxQueuedOfAll = 10_000
const maxCharacters = 64 * 1024 * 1024
const maxOwnCharacters = maxCharacters / 4
/** Milliseconds: nobody knows when a run will begin. */
const retryAfter = 1000

/**
 * Claims a place in the queue for a run of the organization that is about to be stored, until the returned function is
 * called, when it was added or will not be. Throws 429 where the organization has too many, 503 where all have.
 */
export type ClaimSlot = (organization: string) => () => void

/** `maxQueued` is for each organization. */
export function createSlotClaims(
  queue: Pick<RunQueue, 'countsOf' | 'size' | 'characters'>,
  maxQueued: () => number,
): ClaimSlot {
  const claims = new Map<string, number>()
  let size = 0

  function change(organization: string, by: 1 | -1): void {
    const count = (claims.get(organization) ?? 0) + by
    if (count > 0) claims.set(organization, count)
    else claims.delete(organization)
    size += by
  }

  return (organization) => {
    const own = queue.countsOf(organization)
    const limit = maxQueued()
    if (own.size + (claims.get(organization) ?? 0) >= limit) throw tooManyQueued(limit)
    if (own.characters >= maxOwnCharacters) throw queuedTooLarge()
    if (queue.size + size >= maxQueuedOfAll || queue.characters >= maxCharacters)
      throw serviceUnavailable('Too many background runs wait. Try again later.')
    change(organization, 1)
    return () => change(organization, -1)
  }
}

function tooManyQueued(limit: number): Error {
  const reached = `The organization has reached its limit of queued background runs, ${limit}.`
  return rateLimited('requests', `${reached} Try again when some of them have started.`, retryAfter)
}

function queuedTooLarge(): Error {
  const reached = 'The queued background runs of the organization are too large together.'
  return rateLimited('requests', `${reached} Try again when some of them have started.`, retryAfter)
}
