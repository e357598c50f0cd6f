import { MemoryBudget } from '../../lib/memory-budget.ts'
import type { Organization } from '../../domain/accounting/organization.ts'
import { Admission, type OrganizationLimiters, QueuedSlot } from './admission.ts'
import { OrganizationLimiter, type LimitValues, type RateLimitStatus } from './organization-limiter.ts'

/** The rate limits of all organizations, in this process. */
export type RateLimits = {
  /** Counts a request of the organization, or calls `onRejected` with its status and throws the 429. */
  admit(organization: Organization, onRejected: (status: RateLimitStatus) => void): Admission
  /** A reserved call of an earlier process that has yet to run. */
  resume(organization: Organization): QueuedSlot
  /** The number of organizations with a limiter. */
  size(): number
}

/**
 * `clock` is monotonic, in milliseconds. Beyond `maxOrganizations`, idle limiters are evicted. Requests hold
 * their bytes in `memory`.
 */
export function createRateLimits(
  defaults: () => LimitValues,
  clock = () => performance.now(),
  maxOrganizations = 100_000,
  memory = new MemoryBudget(),
): RateLimits {
  const limiters = createLimiters(defaults, clock, maxOrganizations, memory)
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
      return new Admission(organization, limiters)
    },
    resume: (organization) => new QueuedSlot(organization, limiters, 0),
    size: limiters.size,
  }
}

function createLimiters(
  defaults: () => LimitValues,
  clock: () => number,
  maxOrganizations: number,
  memory: MemoryBudget,
): OrganizationLimiters {
  const known = new Map<string, OrganizationLimiter>()

  function add(organization: Organization): OrganizationLimiter {
    const now = clock()
    if (known.size >= maxOrganizations) evictIdle(known, now)
    const limiter = new OrganizationLimiter(limitsOf(organization, defaults()), now)
    known.set(organization.id, limiter)
    return limiter
  }

  return {
    limiterOf: (organization) => known.get(organization.id) ?? add(organization),
    now: clock,
    memory,
    size: () => known.size,
  }
}

function limitsOf({ limits: own }: Organization, defaults: LimitValues): LimitValues {
  return {
    requestsPerMinute: own.requestsPerMinute ?? defaults.requestsPerMinute,
    tokensPerMinute: own.tokensPerMinute ?? defaults.tokensPerMinute,
    concurrentRequests: own.concurrentRequests ?? defaults.concurrentRequests,
  }
}

/** Limiters checked for each new organization, so that no request pays for all of them. */
const maxChecked = 8

/** Busy limiters move to the end of the queue. None of them is evicted: that would forgive what was spent. */
function evictIdle(limiters: Map<string, OrganizationLimiter>, now: number): void {
  for (const [id, limiter] of limiters.entries().take(maxChecked)) {
    limiters.delete(id)
    if (!limiter.isIdle(now)) limiters.set(id, limiter)
  }
}
