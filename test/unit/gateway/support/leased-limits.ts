import type { Organization } from '../../../../src/domain/accounting/organization.ts'
import { createRateLimits, type RateLimits } from '../../../../src/gateway/rate-limits/rate-limits.ts'
import { ApiError } from '../../../../src/lib/errors/errors.ts'
import type { RateLimitStatus } from '../../../../src/storage/ports/limits.ts'
import type { RenewLeases } from '../../../../src/storage/postgres/cluster/lease-store.ts'
import {
  createLeasedLimits,
  type LeasedLimits,
} from '../../../../src/storage/postgres/cluster/leased-limits.ts'
import { callerOf } from '../../../support/local-limits.ts'
import { waitUntil } from '../../../support/billing-database.ts'
import type { OpenStore, SharedTestStore } from '../../storage/support/stores.ts'
import { organization } from './organization.ts'

export type LeasedOptions = {
  readonly requests?: number
  readonly tokens?: number
  readonly concurrent?: number
  /** How many processes share the store. */
  readonly processes?: number
  readonly maxOrganizations?: number
  readonly renewalTimeoutMs?: number
  /** See `StoreOptions`. */
  readonly timeoutMs?: number
  /** Replaces the renewals of all processes. */
  readonly renew?: (renew: RenewLeases) => RenewLeases
}

/** The rate limits of several processes on one store, with a clock that a test turns. */
export async function openLeased(open: OpenStore<SharedTestStore>, options: LeasedOptions = {}) {
  const { requests = 1e6, tokens = 1e9, concurrent = 1e4, processes = 3 } = options
  const clock = { now: 1_800_000_000_000 }
  const values = { requestsPerMinute: requests, tokensPerMinute: tokens, concurrentRequests: concurrent }
  const store = await open({ clock: () => clock.now, timeoutMs: options.timeoutMs })
  const counts = { renewals: 0 }
  const renew = options.renew?.(store.renewLeases) ?? store.renewLeases
  const renewLeases: RenewLeases = (process, renewals) => {
    counts.renewals++
    return renew(process, renewals)
  }
  const ids = Array.from({ length: processes }, (_, index) => `process${index}`)
  for (const id of ids) await store.shared.processes.register(id)
  const { id } = await store.organizations.create('acme')

  const created: LeasedLimits[] = []

  function createClient(process: { id(): string }) {
    const { maxOrganizations, renewalTimeoutMs } = options
    const leased = createLeasedLimits(renewLeases, process, { clock: () => clock.now, renewalTimeoutMs })
    created.push(leased)
    return toClient(
      leased,
      createRateLimits(leased, () => values, { maxOrganizations }),
    )
  }

  /** What the store has of a bucket; what was granted and not used is not there. */
  async function leftInStore(kind: 'requests' | 'tokens'): Promise<number> {
    const [row] = await store.rows(`SELECT * FROM rate_limit_buckets WHERE kind = '${kind}'`)
    const limit = kind === 'requests' ? requests : tokens
    if (row === undefined) return limit
    const spent = Number(row.spent) - Number(row.limit) * (clock.now - Number(row.refilled_at))
    return limit - Math.max(0, spent) / 60_000
  }

  return {
    store,
    clock,
    counts,
    acme: organization(id),
    all: ids.map((id) => createClient({ id: () => id })),
    createClient,
    leftInStore,
    /** Waits until the store has exactly this much, because nobody holds anything that he does not use. */
    untilLeft: (kind: 'requests' | 'tokens', left: number) =>
      waitUntil(async () => (await leftInStore(kind)) === left, `the store has ${left} ${kind}`),
    /** Before the store is closed. */
    async [Symbol.asyncDispose]() {
      for (const limits of created) await limits.stop()
    },
    slotRows: () => store.rows('SELECT process_id, kind, held FROM slot_leases ORDER BY process_id'),
  }
}

/** Takes from the limits as the requests of an organization do. */
export type LimitsClient = ReturnType<typeof toClient>

function toClient(leased: LeasedLimits, limits: RateLimits) {
  return {
    leased,
    limits,
    admit: (who: Organization, onRejected: (status: RateLimitStatus) => void = () => {}) =>
      limits.admit(callerOf(who), onRejected),
    /** Admits a request and opens its call. */
    open: async (who: Organization, tokens: number) =>
      await (await limits.admit(callerOf(who), () => {})).open(tokens),
  }
}

/** The error that this rejects with or throws; undefined if it does neither. */
export async function refusalOf(action: () => unknown): Promise<ApiError | undefined> {
  try {
    await action()
    return undefined
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
}

/** Records the most that a renewal has granted of a bucket beyond what requests needed; it is soon returned. */
export function recordAhead() {
  let most = 0
  const renew =
    (renewLeases: RenewLeases): RenewLeases =>
    async (process, renewals) => {
      const grants = await renewLeases(process, renewals)
      const ofBuckets = grants.filter((_, index) => 'correction' in (renewals[index] ?? {}))
      most = Math.max(most, ...ofBuckets.map(({ ahead }) => ahead))
      return grants
    }
  return { renew, most: () => most }
}
