import { serviceUnavailable } from '../../../lib/errors/errors.ts'
import type { Organization } from '../../../domain/accounting/organization.ts'
import type { QueuedRunSlots } from '../../../gateway/rate-limits/rate-limits.ts'
import { rateLimited } from '../../../lib/errors/http-errors.ts'
import type { RunQueue } from './run-queue.ts'

/** The limits of the queue, because each queued run takes memory: in runs and characters, and for one organization. */
const maxTotalQueued = 10_000
const maxTotalCharacters = 64 * 1024 * 1024
const maxOrganizationCharacters = maxTotalCharacters / 4
/** A constant, because the start of a queued run cannot be predicted. */
const retryAfterMs = 1000

/**
 * Claims a slot in the queue for a run that is about to be stored. Throws or rejects with 429 if the organization has
 * reached a limit, with 503 if the gateway has.
 */
export type ClaimSlot = (organization: Organization) => QueueClaim | Promise<QueueClaim>

/** A slot in the queue. */
export type QueueClaim = {
  /** Keeps what processes share for a run that is queued: the returned function releases it when the run leaves the queue. */
  keep(): (() => void) | undefined
  /** Releases the slot once the run is queued, or will not be. */
  release(): void
}

/** What limits the queues of all processes that share a database. */
export type SharedQueueLimits = {
  readonly slots: QueuedRunSlots
  /** Counts the queued runs of an organization, also those that have no slot because another process has claimed them. */
  countQueued(organization: string): Promise<number>
}

/** Claims slots of this queue; `maxQueued` is the limit of each organization. */
export function createSlotClaims(
  queue: Pick<RunQueue, 'countsOf' | 'size' | 'characters'>,
  maxQueued: () => number,
  shared?: SharedQueueLimits,
): ClaimSlot {
  const claims = new Map<string, number>()
  let size = 0
  const claimed = (id: string) => claims.get(id) ?? 0

  function change(id: string, by: 1 | -1): void {
    const count = claimed(id) + by
    if (count > 0) claims.set(id, count)
    else claims.delete(id)
    size += by
  }

  return (organization) => {
    const { id } = organization
    const own = queue.countsOf(id)
    const limit = maxQueued()
    if (!shared && own.size + claimed(id) >= limit) throw tooManyQueued(limit)
    if (own.characters >= maxOrganizationCharacters) throw queuedTooLarge()
    if (queue.size + size >= maxTotalQueued || queue.characters >= maxTotalCharacters)
      throw serviceUnavailable('Too many background runs are queued. Try again later.')
    change(id, 1)
    const release = () => change(id, -1)
    if (!shared) return { keep: () => undefined, release }
    return claimShared(organization, limit, shared, release)
  }
}

/** The slots keep requests at the same time from exceeding the limit. */
async function claimShared(
  organization: Organization,
  limit: number,
  { slots, countQueued }: SharedQueueLimits,
  releaseLocal: () => void,
): Promise<QueueClaim> {
  let slot: (() => void) | undefined
  const release = () => {
    slot?.()
    slot = undefined
    releaseLocal()
  }
  try {
    slot = await slots.claim(organization, limit)
    const queued = slot && (await countQueued(organization.id))
    if (queued === undefined || queued >= limit) throw tooManyQueued(limit)
  } catch (error) {
    release()
    throw error
  }
  const keep = () => {
    const kept = slot
    slot = undefined
    return kept
  }
  return { keep, release }
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
