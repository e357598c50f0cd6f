import type { Organization } from '../../domain/accounting/organization.ts'
import { IdleCache } from '../../lib/idle-cache.ts'
import { MemoryBudget } from '../../lib/memory-budget.ts'
import type { Limits, LimitValues, OrganizationLimiter, RateLimitStatus } from '../../storage/ports/limits.ts'
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
  /** The number of organizations with a limiter. */
  size(): number
}

/** Counts the queued runs of an organization in all processes. */
export type QueuedRunSlots = {
  /** Resolves with a function that releases the slot, or with undefined if the organization has as many as `limit`. */
  claim(organization: Organization, limit: number): Promise<(() => void) | undefined>
}

export type RateLimitsOptions = {
  /** Where requests hold their bytes. */
  readonly memory?: MemoryBudget | undefined
  /** Beyond this number, idle limiters are evicted. */
  readonly maxOrganizations?: number | undefined
}

/** Creates the rate limits; organizations without limits of their own have the defaults. */
export function createRateLimits(
  limits: Limits,
  defaults: () => LimitValues,
  { memory = new MemoryBudget(), maxOrganizations }: RateLimitsOptions = {},
): RateLimits {
  const limiters = new IdleCache<OrganizationLimiter>((limiter) => limiter.isIdle(), maxOrganizations)
  const resources: AdmissionResources = { limiterOf, memory }

  function limiterOf(organization: Organization): OrganizationLimiter {
    const { id } = organization
    return limiters.find(id) ?? limiters.add(id, limits.create(id, limitsOf(organization, defaults())))
  }

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
    size: () => limiters.size,
    queuedRuns: { claim: (organization, limit) => claimQueued(limiterOf(organization), limit) },
  }
}

async function claimQueued(limiter: OrganizationLimiter, limit: number): Promise<(() => void) | undefined> {
  return (await limiter.takeQueued(limit)) ? () => limiter.releaseQueued() : undefined
}

/** The limits of the organization: its own, or else the defaults. */
function limitsOf({ limits: own }: Organization, defaults: LimitValues): LimitValues {
  return {
    requestsPerMinute: own.requestsPerMinute ?? defaults.requestsPerMinute,
    tokensPerMinute: own.tokensPerMinute ?? defaults.tokensPerMinute,
    concurrentRequests: own.concurrentRequests ?? defaults.concurrentRequests,
  }
}
