import type { Organization } from '../../domain/accounting/organization.ts'
import { IdleCache } from '../../lib/idle-cache.ts'
import { MemoryBudget } from '../../lib/memory-budget.ts'
import type { Limits, LimitValues, OrganizationLimiter, RateLimitStatus } from '../../storage/ports/limits.ts'
import type { RateLimitOwner } from '../access/caller-limits.ts'
import { Admission, type AdmissionResources, type Limited, limitExceeded, QueuedSlot } from './admission.ts'
import { organizationPart, ownerPart, type RequestLimiter, SharedLimiter } from './shared-limiter.ts'

/** The rate limits of all organizations, projects and keys. */
export type RateLimits = ReturnType<typeof createRateLimits>

type RateLimitsOptions = {
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
) {
  const limiters = new Limiters(limits, defaults, maxOrganizations)
  const resources: AdmissionResources = { limiterOf: (caller) => limiters.of(caller), memory }

  function toAdmission(
    caller: Limited,
    limiter: RequestLimiter,
    waitMs: number,
    onRejected: (status: RateLimitStatus) => void,
  ): Admission {
    if (waitMs === 0) return new Admission(caller, resources)
    onRejected(limiter.status())
    throw limitExceeded('requests', limiter, waitMs)
  }

  return {
    /**
     * Counts a request, or calls `onRejected` with the status of its limits and throws the 429. What a request that
     * `opensCall` is about to take is asked for at the same time.
     */
    admit(caller: Limited, onRejected: (status: RateLimitStatus) => void, opensCall = false) {
      limiters.update(caller)
      const limiter = limiters.of(caller)
      const waitMs = limiter.takeRequest(opensCall)
      return waitMs instanceof Promise
        ? waitMs.then((waitMs) => toAdmission(caller, limiter, waitMs, onRejected))
        : toAdmission(caller, limiter, waitMs, onRejected)
    },
    /** A reserved call of an earlier process that has yet to run. */
    resume: (caller: Limited) => new QueuedSlot(caller, resources, 0),
    /** The number of organizations, projects and keys with a limiter. */
    size: () => limiters.size,
    /** The slots of queued background runs, which count those of an organization in all processes. */
    queuedRuns: {
      /** Resolves with a function that releases the slot, or with undefined if the organization has as many as `limit`. */
      claim: (organization: Organization, limit: number) =>
        claimQueued(limiters.ofOrganization(organization), limit),
    },
  }
}

/** The limiters of organizations, projects and keys, by their ids. */
class Limiters {
  readonly #limits: Limits
  readonly #defaults: () => LimitValues
  readonly #cache: IdleCache<OrganizationLimiter>

  constructor(limits: Limits, defaults: () => LimitValues, max: number | undefined) {
    this.#limits = limits
    this.#defaults = defaults
    this.#cache = new IdleCache((limiter) => limiter.isIdle(), max)
  }

  get size(): number {
    return this.#cache.size
  }

  /** All that a request of the caller takes from. */
  of({ organization, limits: { rateLimited } }: Limited): RequestLimiter {
    if (rateLimited.length === 0) return this.ofOrganization(organization)
    // The key comes last in the list, and is asked first.
    const parts = rateLimited.map((owner) => ownerPart(owner, () => this.#ofOwner(owner))).toReversed()
    return new SharedLimiter([...parts, organizationPart(() => this.ofOrganization(organization))])
  }

  ofOrganization(organization: Organization): OrganizationLimiter {
    const { id } = organization
    return this.#cache.find(id) ?? this.#add(id, limitsOf(organization, this.#defaults()))
  }

  /** Applies what may have been changed since the last request. */
  update({ organization, limits: { rateLimited } }: Limited): void {
    this.ofOrganization(organization).setLimits(limitsOf(organization, this.#defaults()))
    for (const owner of rateLimited) this.#ofOwner(owner).setLimits(limitsOf(owner, unlimited))
  }

  #ofOwner(owner: RateLimitOwner): OrganizationLimiter {
    return this.#cache.find(owner.id) ?? this.#add(owner.id, limitsOf(owner, unlimited))
  }

  #add(id: string, values: LimitValues): OrganizationLimiter {
    return this.#cache.add(id, this.#limits.create(id, values))
  }
}

async function claimQueued(limiter: OrganizationLimiter, limit: number): Promise<(() => void) | undefined> {
  return (await limiter.takeQueued(limit)) ? () => limiter.releaseQueued() : undefined
}

/** The limits that a project or a key does not have: nothing is taken from them. */
const unlimited: LimitValues = {
  requestsPerMinute: 100_000_000_000,
  tokensPerMinute: 100_000_000_000,
  concurrentRequests: 100_000_000_000,
}

/** The limits of an owner: its own, or else the defaults. */
function limitsOf({ limits: own }: Pick<RateLimitOwner, 'limits'>, defaults: LimitValues): LimitValues {
  return {
    requestsPerMinute: own.requestsPerMinute ?? defaults.requestsPerMinute,
    tokensPerMinute: own.tokensPerMinute ?? defaults.tokensPerMinute,
    concurrentRequests: own.concurrentRequests ?? defaults.concurrentRequests,
  }
}
