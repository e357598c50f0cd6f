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
  admit(organization: Organization, refused: (standing: RateLimitStatus) => void): Admission
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
  most = 100_000,
  memory = new MemoryBudget(),
): RateLimits {
  const allowances = createAllowances(defaults, clock, most, memory)
  return {
    admit(organization, refused) {
      const now = clock()
      const allowance = allowances.of(organization)
      allowance.adopt(limitsOf(organization, defaults()), now)
      try {
        allowance.takeRequest(now)
      } catch (error) {
        refused(allowance.status(now))
        throw error
      }
      return new RequestAdmission(organization, allowances)
    },
    resume: (organization) => new TokenReservation(organization, allowances, 0),
    size: allowances.size,
  }
}

function createAllowances(
  defaults: () => LimitValues,
  clock: () => number,
  most: number,
  memory: MemoryBudget,
): OrganizationLimiters {
  const known = new Map<string, OrganizationLimiter>()

  function add(organization: Organization): OrganizationLimiter {
    const now = clock()
    if (known.size >= most) forgetIdle(known, now)
    const fresh = new OrganizationLimiter(limitsOf(organization, defaults()), now)
    known.set(organization.id, fresh)
    return fresh
  }

  return {
    of: (organization) => known.get(organization.id) ?? add(organization),
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
const looks = 8

/** Those that are not idle go behind the others. None of them is dropped: that would forgive what it has spent. */
function forgetIdle(allowances: Map<string, OrganizationLimiter>, now: number): void {
  for (const [id, allowance] of allowances.entries().take(looks)) {
    allowances.delete(id)
    if (!allowance.idle(now)) allowances.set(id, allowance)
  }
}
