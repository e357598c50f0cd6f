import { MemoryBudget } from '../../lib/memory-budget.ts'
import type { Organization } from '../../storage/organization.ts'
import {
  type Admission,
  type Allowances,
  type QueuedCall,
  RequestAdmission,
  TakenTokens,
} from './admission.ts'
import { Allowance, type LimitValues, type Standing } from './allowance.ts'

/** The limits of all organizations, in this process. */
export type Limits = {
  /** Counts a request of the organization, or throws the 429; then `refused` hears how the organization stands. */
  admit(organization: Organization, refused: (standing: Standing) => void): Admission
  /** A call that an earlier process has let in, and that is still to be made. */
  resume(organization: Organization): QueuedCall
  /** How many organizations are remembered. */
  size(): number
}

/**
 * `clock` is milliseconds that never go back. Beyond `most` organizations, those that rest are forgotten. Requests hold
 * their bytes of `memory`.
 */
export function createLimits(
  defaults: () => LimitValues,
  clock = () => performance.now(),
  most = 100_000,
  memory = new MemoryBudget(),
): Limits {
  const allowances = createAllowances(defaults, clock, most, memory)
  return {
    admit(organization, refused) {
      const now = clock()
      const allowance = allowances.of(organization)
      allowance.adopt(limitsOf(organization, defaults()), now)
      try {
        allowance.takeRequest(now)
      } catch (error) {
        refused(allowance.standing(now))
        throw error
      }
      return new RequestAdmission(organization, allowances)
    },
    resume: (organization) => new TakenTokens(organization, allowances, 0),
    size: allowances.size,
  }
}

function createAllowances(
  defaults: () => LimitValues,
  clock: () => number,
  most: number,
  memory: MemoryBudget,
): Allowances {
  const known = new Map<string, Allowance>()

  function add(organization: Organization): Allowance {
    const now = clock()
    if (known.size >= most) forgetIdle(known, now)
    const fresh = new Allowance(limitsOf(organization, defaults()), now)
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
function forgetIdle(allowances: Map<string, Allowance>, now: number): void {
  for (const [id, allowance] of allowances.entries().take(looks)) {
    allowances.delete(id)
    if (!allowance.idle(now)) allowances.set(id, allowance)
  }
}
