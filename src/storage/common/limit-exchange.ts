import { serviceUnavailable } from '../../lib/errors/errors.ts'
import { type BucketState, TokenBucket } from '../../lib/token-bucket.ts'
import type {
  BucketExchange,
  BucketGrant,
  LimitGrants,
  SlotExchange,
  SlotGrant,
} from '../ports/limit-leases.ts'

/** The exchanges of one transaction. */
export type LimitExchanges = {
  readonly process: string
  readonly buckets: readonly BucketExchange[]
  readonly slots: readonly SlotExchange[]
}

/** The limits as they are in the database; `now` is milliseconds on its clock. */
export type LimitState = {
  readonly now: number
  bucket(exchange: BucketExchange): BucketState
  slots(exchange: SlotExchange): SlotGrant
}

/** What has changed, and is to be written. */
export type LimitChanges = {
  readonly buckets: readonly (Pick<BucketExchange, 'organization' | 'kind'> & BucketState)[]
  readonly slots: readonly (Pick<SlotExchange, 'organization' | 'kind'> & Pick<SlotGrant, 'held'>)[]
}

/** Executes the exchanges with limits that are locked in the database. */
export function exchangeLimits(
  { buckets, slots }: Omit<LimitExchanges, 'process'>,
  limits: LimitState,
): { readonly grants: LimitGrants; readonly changes: LimitChanges } {
  const exchangedBuckets = buckets.map((exchange) => {
    const { organization, kind } = exchange
    return { organization, kind, ...exchangeBucket(limits.bucket(exchange), exchange, limits.now) }
  })
  const exchangedSlots = slots.map((exchange) => {
    const { organization, kind } = exchange
    const before = limits.slots(exchange)
    const grant = exchangeSlots(exchange, before)
    return { organization, kind, grant, changed: grant.held !== before.held }
  })
  return {
    grants: {
      buckets: exchangedBuckets.map(({ grant }) => grant),
      slots: exchangedSlots.map(({ grant }) => grant),
    },
    changes: {
      buckets: exchangedBuckets
        .filter(({ changed }) => changed)
        .map(({ organization, kind, state }) => ({ organization, kind, ...state })),
      slots: exchangedSlots
        .filter(({ changed }) => changed)
        .map(({ organization, kind, grant: { held } }) => ({ organization, kind, held })),
    },
  }
}

/** A clock that is behind the last refill by more than this was set back. */
const maxClockLagMs = 60_000

/** The state of a bucket before its first use; its limit is replaced by the first exchange. */
export const unusedBucket: BucketState = { limit: 1, spent: 0, refilledAt: 0 }

type ExchangedBucket = {
  readonly state: BucketState
  readonly grant: BucketGrant
  /** False if there is nothing to write: refilling is only a matter of time. */
  readonly changed: boolean
}

function exchangeBucket(
  state: BucketState,
  { limit, needs, spare, correction }: BucketExchange,
  now: number,
): ExchangedBucket {
  const wasSetBack = state.refilledAt > now + maxClockLagMs
  const bucket = TokenBucket.from(wasSetBack ? { ...state, refilledAt: now } : state)
  bucket.resize(limit, now)
  if (correction !== 0) bucket.charge(correction, now)
  const granted = needs.map((amount) => bucket.take(amount, now) === 0)
  const given = granted.includes(false) ? 0 : Math.min(spare, bucket.remaining(now))
  if (given > 0) bucket.take(given, now)
  return {
    state: bucket.state,
    grant: { granted, spare: given, spent: bucket.state.spent },
    changed:
      wasSetBack || bucket.limit !== state.limit || correction !== 0 || given > 0 || granted.includes(true),
  }
}

function exchangeSlots({ limit, needed, spare }: SlotExchange, { held, others }: SlotGrant): SlotGrant {
  const kept = needed <= held ? needed : Math.max(held, Math.min(needed, limit - others))
  return { held: kept + Math.max(0, Math.min(spare, limit - others - kept)), others }
}

/** The 503 of a process that the others have removed, until it has entered again. */
export function processRemoved(): Error {
  return serviceUnavailable('The gateway was disconnected from its other processes. Try again in a moment.')
}
