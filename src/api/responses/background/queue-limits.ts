import { rateLimited, serviceUnavailable } from '../../../lib/errors/errors.ts'
import type { RunQueue } from './run-queue.ts'

/** The limits of the queue, because each queued run takes memory: in runs and characters, and for one organization. */
const maxTotalQueued = 10_000
const maxTotalCharacters = 64 * 1024 * 1024
const maxOrganizationCharacters = maxTotalCharacters / 4
/** A constant, because the start of a queued run cannot be predicted. */
const retryAfterMs = 1000

/**
 * Claims a slot in the queue for a run that is about to be stored. The returned function releases it, once the run is
 * queued or will not be. Throws or rejects with 429 if the organization has reached a limit, with 503 if the gateway has.
 */
export type ClaimSlot = (organization: string) => (() => void) | Promise<() => void>

/**
 * Claims slots of this queue; `maxQueued` is the limit of each organization. `countQueued` counts its runs where other
 * processes have queues too.
 */
export function createSlotClaims(
  queue: Pick<RunQueue, 'countsOf' | 'size' | 'characters'>,
  maxQueued: () => number,
  countQueued?: (organization: string) => Promise<number>,
): ClaimSlot {
  const claims = new Map<string, number>()
  let size = 0

  function change(organization: string, by: 1 | -1): void {
    const count = (claims.get(organization) ?? 0) + by
    if (count > 0) claims.set(organization, count)
    else claims.delete(organization)
    size += by
  }

  const claimed = (organization: string) => claims.get(organization) ?? 0

  /** The claim itself is already counted: requests at the same time count each other. */
  async function checkCount(organization: string, counted: Promise<number>): Promise<() => void> {
    const release = () => change(organization, -1)
    try {
      const limit = maxQueued()
      if ((await counted) + claimed(organization) > limit) throw tooManyQueued(limit)
      return release
    } catch (error) {
      release()
      throw error
    }
  }

  return (organization) => {
    const own = queue.countsOf(organization)
    const limit = maxQueued()
    if (!countQueued && own.size + claimed(organization) >= limit) throw tooManyQueued(limit)
    if (own.characters >= maxOrganizationCharacters) throw queuedTooLarge()
    if (queue.size + size >= maxTotalQueued || queue.characters >= maxTotalCharacters)
      throw serviceUnavailable('Too many background runs are queued. Try again later.')
    change(organization, 1)
    if (countQueued) return checkCount(organization, countQueued(organization))
    return () => change(organization, -1)
  }
}

function tooManyQueued(limit: number): Error {
  const reached = `Rate limit exceeded: too many queued background runs for the organization (limit: ${limit}).`
  return rateLimited('requests', `${reached} Try again when some of them have started.`, retryAfterMs)
}

function queuedTooLarge(): Error {
  const reached =
    'Rate limit exceeded: the queued background runs of the organization are too large in total.'
  return rateLimited('requests', `${reached} Try again when some of them have started.`, retryAfterMs)
}
