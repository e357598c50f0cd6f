import type { Organization } from '../../domain/accounting/organization.ts'
import { MemoryBudget } from '../../lib/memory-budget.ts'
import {
  type Limits,
  limitsOf,
  type LimitValues,
  type OrganizationLimiter,
  type RateLimitStatus,
} from '../../storage/ports/limits.ts'
import { Admission, type AdmissionResources, limitExceeded, QueuedSlot } from './admission.ts'

/** The rate limits of all organizations. */
export type RateLimits = {
  /**
   * Counts a request of the organization, or calls `onRejected` with its status and throws the 429. What a request that
   * `opensCall` is about to take is asked for at the same time.
   */
  admit(
    organization: Organization,
    onRejected: (status: RateLimitStatus) => void,
    opensCall?: boolean,
  ): Admission | Promise<Admission>
  /** A reserved call of an earlier process that has yet to run. */
  resume(organization: Organization): QueuedSlot
  /** The slots of queued background runs. */
  readonly queuedRuns: QueuedRunSlots
}

/** Counts the queued runs of an organization in all processes. */
export type QueuedRunSlots = {
  /** Resolves with a function that releases the slot, or with undefined if the organization has as many as `limit`. */
  claim(organization: Organization, limit: number): Promise<(() => void) | undefined>
}

/** Creates the rate limits. Organizations without limits of their own have the defaults; requests hold their bytes in `memory`. */
export function createRateLimits(
  limits: Limits,
  defaults: () => LimitValues,
  memory = new MemoryBudget(),
): RateLimits {
  const limiterOf = (organization: Organization) => limits.limiterOf(organization, defaults)
  const resources: AdmissionResources = { limiterOf, memory }

  function toAdmission(
    organization: Organization,
    waitMs: number,
    onRejected: (status: RateLimitStatus) => void,
  ): Admission {
    if (waitMs === 0) return new Admission(organization, resources)
    const status = limiterOf(organization).status()
    onRejected(status)
    throw limitExceeded('requests', status, waitMs)
  }

  return {
    admit(organization, onRejected, opensCall = false) {
      const limiter = limiterOf(organization)
      limiter.setLimits(limitsOf(organization, defaults()))
      const waitMs = limiter.takeRequest(opensCall)
      return waitMs instanceof Promise
        ? waitMs.then((waitMs) => toAdmission(organization, waitMs, onRejected))
        : toAdmission(organization, waitMs, onRejected)
    },
    resume: (organization) => new QueuedSlot(organization, resources, 0),
    queuedRuns: { claim: (organization, limit) => claimQueued(limiterOf(organization), limit) },
  }
}

async function claimQueued(limiter: OrganizationLimiter, limit: number): Promise<(() => void) | undefined> {
  return (await limiter.takeQueued(limit)) ? () => limiter.releaseQueued() : undefined
}
