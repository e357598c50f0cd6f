import type { Organization } from '../../domain/accounting/organization.ts'
import { MemoryBudget } from '../../lib/memory-budget.ts'
import type { Admission, QueuedSlot } from './admission.ts'
import { LocalAdmission, LocalQueuedSlot, type OrganizationLimiters } from './local-admission.ts'
import { createLimiterCache, limitsOf } from './limiter-cache.ts'
import { OrganizationLimiter, type LimitValues, type RateLimitStatus } from './organization-limiter.ts'

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
  /** The slots of queued background runs that processes share; undefined for a process that is alone. */
  readonly queuedRuns: QueuedRunSlots | undefined
  /** The number of organizations with a limiter. */
  size(): number
  /** Returns what was taken from shared limits and not used; all calls must have ended. */
  stop(): Promise<void>
}

/** Counts the queued runs of an organization in all processes. */
export type QueuedRunSlots = {
  /** Resolves with a function that releases the slot, or with undefined if the organization has as many as `limit`. */
  claim(organization: Organization, limit: number): Promise<(() => void) | undefined>
}

/** The rate limits of a process that is alone: nothing has to be waited for. */
export type LocalRateLimits = Pick<RateLimits, 'queuedRuns' | 'size' | 'stop'> & {
  admit(organization: Organization, onRejected: (status: RateLimitStatus) => void): LocalAdmission
  resume(organization: Organization): LocalQueuedSlot
}

/**
 * Creates the rate limits of a process that is alone. `clock` is monotonic, in milliseconds. Beyond `maxOrganizations`,
 * idle limiters are evicted. Requests hold their bytes in `memory`.
 */
export function createRateLimits(
  defaults: () => LimitValues,
  clock = () => performance.now(),
  maxOrganizations = 100_000,
  memory = new MemoryBudget(),
): LocalRateLimits {
  const cache = createLimiterCache<OrganizationLimiter>({
    create: (organization) => new OrganizationLimiter(limitsOf(organization, defaults()), clock()),
    isIdle: (limiter) => limiter.isIdle(clock()),
    maxOrganizations,
  })
  const limiters: OrganizationLimiters = { ...cache, now: clock, memory }
  return {
    admit(organization, onRejected) {
      const now = clock()
      const limiter = limiters.limiterOf(organization)
      limiter.setLimits(limitsOf(organization, defaults()), now)
      try {
        limiter.takeRequest(now)
      } catch (error) {
        onRejected(limiter.status(now))
        throw error
      }
      return new LocalAdmission(organization, limiters)
    },
    resume: (organization) => new LocalQueuedSlot(organization, limiters, 0),
    queuedRuns: undefined,
    size: limiters.size,
    stop: () => Promise.resolve(),
  }
}
