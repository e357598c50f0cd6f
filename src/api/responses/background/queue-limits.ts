import { serviceUnavailable } from '../../../lib/errors/errors.ts'
import type { Organization } from '../../../domain/accounting/organization.ts'
import { rateLimited } from '../../../lib/errors/http-errors.ts'
import type { RunDependencies } from './run.ts'
import type { RunQueue } from './run-queue.ts'

/** The limits of the queue, because each queued run takes memory: in runs and characters, and for one organization. */
const maxTotalQueued = 10_000
const maxTotalCharacters = 64 * 1024 * 1024
const maxOrganizationCharacters = maxTotalCharacters / 4
/** A constant, because the start of a queued run cannot be predicted. */
const retryAfterMs = 1000

/**
 * Claims a slot in the queue for a run that is about to be stored. Rejects with 429 if the organization has reached a limit,
 * with 503 if the gateway has.
 */
export type ClaimSlot = (organization: Organization) => Promise<QueueClaim>

/** A slot in the queue. */
type QueueClaim = {
  /** Keeps the slot for a run that is queued: the returned function releases it when the run leaves the queue. */
  keep(): () => void
  /** Releases the slot once the run is queued, or will not be. */
  release(): void
}

type QueueDependencies = Pick<RunDependencies, 'current' | 'limits' | 'peers' | 'runs'>

/** Claims slots of this queue. What requests at the same time have claimed counts as well. */
export function createSlotClaims(queue: QueueCounts, parts: QueueDependencies): ClaimSlot {
  const pending = new PendingClaims()
  return async (organization) => {
    const limit = parts.current().maxQueued
    assertSpace(organization.id, limit, queue, pending)
    pending.change(organization.id, 1)
    let slot: (() => void) | undefined
    const release = () => {
      slot?.()
      slot = undefined
      pending.change(organization.id, -1)
    }
    const keep = () => {
      const kept = slot
      slot = undefined
      return () => kept?.()
    }
    try {
      slot = await claimShared(organization, limit, parts)
      return { keep, release }
    } catch (error) {
      release()
      throw error
    }
  }
}

type QueueCounts = Pick<RunQueue, 'countsOf' | 'size' | 'characters'>

/** The slots that were claimed for runs that are not queued yet. */
class PendingClaims {
  readonly #counts = new Map<string, number>()
  size = 0

  of(organization: string): number {
    return this.#counts.get(organization) ?? 0
  }

  change(organization: string, by: 1 | -1): void {
    const count = this.of(organization) + by
    if (count > 0) this.#counts.set(organization, count)
    else this.#counts.delete(organization)
    this.size += by
  }
}

/** Throws if the queue of this process has no space for another run of the organization. */
function assertSpace(organization: string, limit: number, queue: QueueCounts, pending: PendingClaims): void {
  const own = queue.countsOf(organization)
  if (own.size + pending.of(organization) >= limit) throw tooManyQueued(limit)
  if (own.characters >= maxOrganizationCharacters) throw queuedTooLarge()
  if (queue.size + pending.size >= maxTotalQueued || queue.characters >= maxTotalCharacters)
    throw serviceUnavailable('Too many background runs are queued. Try again later.')
}

/**
 * Claims a slot of those that the processes share, which keep requests at the same time from exceeding the limit. Runs that
 * another process has claimed have none.
 */
async function claimShared(
  organization: Organization,
  limit: number,
  { limits, peers, runs }: QueueDependencies,
): Promise<() => void> {
  const release = await limits.queuedRuns.claim(organization, limit)
  if (release === undefined) throw tooManyQueued(limit)
  if (peers.count() === 1) return release
  try {
    if ((await runs.countQueued(organization.id)) < limit) return release
  } catch (error) {
    release()
    throw error
  }
  release()
  throw tooManyQueued(limit)
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
