import { ApiError } from '../../../lib/errors/errors.ts'
import { MemoryBudget } from '../../../lib/memory-budget.ts'
import type { SharedStore } from '../../../storage/ports/shared-store.ts'
import { createLimiterCache, limitsOf } from '../limiter-cache.ts'
import type { LimitValues, RateLimitStatus } from '../organization-limiter.ts'
import type { RateLimits } from '../rate-limits.ts'
import { ExchangeRounds } from './exchange-rounds.ts'
import { LeasedAdmission, type LeasedLimiters, LeasedQueuedSlot } from './leased-admission.ts'
import { LeasedLimiter } from './leased-limiter.ts'

export type LeasedRateLimitsOptions = {
  /** A monotonic clock in milliseconds. */
  readonly clock?: (() => number) | undefined
  /** Beyond this number, idle limiters are evicted. */
  readonly maxOrganizations?: number
  /** Where requests hold their bytes. */
  readonly memory?: MemoryBudget
  /** How long requests wait for an exchange with the store. */
  readonly exchangeTimeoutMs?: number | undefined
}

/** Creates the rate limits of a process that shares them with the other processes of its store. */
export function createLeasedRateLimits(
  shared: Pick<SharedStore, 'process' | 'leases'>,
  defaults: () => LimitValues,
  {
    clock = () => performance.now(),
    maxOrganizations = 100_000,
    memory = new MemoryBudget(),
    exchangeTimeoutMs,
  }: LeasedRateLimitsOptions = {},
): RateLimits {
  const rounds = new ExchangeRounds(shared, exchangeTimeoutMs)
  const cache = createLimiterCache<LeasedLimiter>({
    create: (organization) =>
      new LeasedLimiter(organization.id, limitsOf(organization, defaults()), clock, rounds),
    isIdle: (limiter) => limiter.isIdle(),
    maxOrganizations,
  })
  const limiters: LeasedLimiters = { ...cache, now: clock, memory }

  return {
    admit(organization, onRejected, opensCall = false) {
      const limiter = limiters.limiterOf(organization)
      limiter.setLimits(limitsOf(organization, defaults()))
      const counted = countRequest(limiter, opensCall, onRejected)
      if (counted) return counted.then(() => new LeasedAdmission(organization, limiters))
      return new LeasedAdmission(organization, limiters)
    },
    resume: (organization) => new LeasedQueuedSlot(organization, limiters, 0),
    queuedRuns: { claim: (organization, limit) => claimQueued(limiters.limiterOf(organization), limit) },
    size: cache.size,
    stop: () => rounds.stop(),
  }
}

function countRequest(
  limiter: LeasedLimiter,
  opensCall: boolean,
  onRejected: (status: RateLimitStatus) => void,
): void | Promise<void> {
  function reject(error: unknown): never {
    if (error instanceof ApiError && error.status === 429) onRejected(limiter.status())
    throw error
  }
  try {
    return limiter.takeRequest(opensCall)?.catch(reject)
  } catch (error) {
    reject(error)
  }
}

async function claimQueued(limiter: LeasedLimiter, limit: number): Promise<(() => void) | undefined> {
  return (await limiter.takeQueued(limit)) ? () => limiter.releaseQueued() : undefined
}
