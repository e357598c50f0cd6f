import type { Organization } from '../../src/domain/accounting/organization.ts'
import type { RateLimitOwner } from '../../src/gateway/access/caller-limits.ts'
import type {
  Admission,
  ConcurrencySlot,
  Limited,
  QueuedSlot,
} from '../../src/gateway/rate-limits/admission.ts'
import { createRateLimits, type RateLimits } from '../../src/gateway/rate-limits/rate-limits.ts'
import type { MemoryBudget } from '../../src/lib/memory-budget.ts'
import type { LimitValues, RateLimitStatus } from '../../src/storage/ports/limits.ts'
import { createMemoryLimits } from '../../src/storage/sqlite/limits.ts'

/** The rate limits of a process that is alone: nothing has to be waited for. */
export type LocalRateLimits = Omit<RateLimits, 'admit'> & {
  admit(caller: Limited, onRejected: (status: RateLimitStatus) => void): LocalAdmission
}

export type LocalAdmission = {
  open(tokens: number): ConcurrencySlot
  queue(tokens: number): LocalQueuedSlot
} & Admission

type LocalQueuedSlot = { start(): ConcurrencySlot | undefined } & QueuedSlot

/** Creates rate limits in memory, as those of a gateway on SQLite are. */
export function createLocalLimits(
  defaults: () => LimitValues,
  clock?: () => number,
  maxOrganizations?: number,
  memory?: MemoryBudget,
): LocalRateLimits {
  const rateLimits = createRateLimits(createMemoryLimits(clock), defaults, { memory, maxOrganizations })
  return {
    ...rateLimits,
    admit(caller, onRejected) {
      const admission = rateLimits.admit(caller, onRejected)
      if (admission instanceof Promise) throw new Error('The admission has to be waited for.')
      return admission as LocalAdmission
    },
  }
}

/** A caller of an organization, whose project and keys have these rate limits. */
export function callerOf(organization: Organization, rateLimited: readonly RateLimitOwner[] = []): Limited {
  return { organization, limits: { rateLimited } }
}
