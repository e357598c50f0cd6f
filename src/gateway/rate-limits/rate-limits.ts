import { MemoryBudget } from '../../lib/memory-budget.ts'
import type { Organization } from '../../domain/accounting/organization.ts'
import {
  type Admission,
  type OrganizationLimiters,
  type QueuedSlot,
  RequestAdmission,
  TokenReservation,
} from './admission.ts'
import { OrganizationLimiter, type LimitValues, type RateLimitStatus } from './organization-limiter.ts'

/** The limits of all organizations, in this process. */
export type RateLimits = {
  /** Counts a request of the organization, or throws the 429; then `refused` hears how the organization stands. */
  admit(organization: Organization, onRejected: (status: RateLimitStatus) => void): Admission
  /** A call that an earlier process has let in, and that is still to be made. */
  resume(organization: Organization): QueuedSlot
  /** How many organizations are remembered. */
  size(): number
}

/**
 * `clock` is milliseconds that never go back. Beyond `most` organizations, those that rest are forgotten. Requests hold
 * their bytes of `memory`.
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
      return new RequestAdmission(organization, limiters)
    },
    resume: (organization) => new TokenReservation(organization, limiters, 0),
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

/** How many are looked at for each organization that is new, so that no request pays for all. */
const maxChecked = 8

/** Those that are not idle go behind the others. None of them is dropped: that would forgive what it has spent. */
function evictIdle(limiters: Map<string, OrganizationLimiter>, now: number): void {
  for (const [id, limiter] of limiters.entries().take(maxChecked)) {
    limiters.delete(id)
    if (!limiter.isIdle(now)) limiters.set(id, limiter)
  }
}
