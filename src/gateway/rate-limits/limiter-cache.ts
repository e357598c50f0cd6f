import type { Organization } from '../../domain/accounting/organization.ts'
import type { LimitValues } from './organization-limiter.ts'

/** The limiters of the organizations that have sent requests. */
export type LimiterCache<Limiter> = {
  limiterOf(organization: Organization): Limiter
  size(): number
}

export type LimiterCacheOptions<Limiter> = {
  create(organization: Organization): Limiter
  /** Whether the limiter can be evicted without loss. */
  isIdle(limiter: Limiter): boolean
  /** Beyond this number, idle limiters are evicted. */
  readonly maxOrganizations: number
}

/** Creates an empty cache. */
export function createLimiterCache<Limiter>({
  create,
  isIdle,
  maxOrganizations,
}: LimiterCacheOptions<Limiter>): LimiterCache<Limiter> {
  const known = new Map<string, Limiter>()

  function add(organization: Organization): Limiter {
    if (known.size >= maxOrganizations) evictIdle()
    const limiter = create(organization)
    known.set(organization.id, limiter)
    return limiter
  }

  /** Busy limiters move to the end of the queue. None of them is evicted: that would forgive what was spent. */
  function evictIdle(): void {
    for (const [id, limiter] of known.entries().take(maxChecked)) {
      known.delete(id)
      if (!isIdle(limiter)) known.set(id, limiter)
    }
  }

  return {
    limiterOf: (organization) => known.get(organization.id) ?? add(organization),
    size: () => known.size,
  }
}

/** Limiters checked for each new organization, so that no request pays for all of them. */
const maxChecked = 8

/** The limits of the organization: its own, or else the defaults. */
export function limitsOf({ limits: own }: Organization, defaults: LimitValues): LimitValues {
  return {
    requestsPerMinute: own.requestsPerMinute ?? defaults.requestsPerMinute,
    tokensPerMinute: own.tokensPerMinute ?? defaults.tokensPerMinute,
    concurrentRequests: own.concurrentRequests ?? defaults.concurrentRequests,
  }
}
