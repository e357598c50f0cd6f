import { type BucketState, TokenBucket } from '../../../lib/token-bucket.ts'

/** Limits of a minute, which are token buckets, and limits of what an owner may have at a time, which are slots. */
export type BucketKind = 'requests' | 'tokens'
export type SlotKind = 'concurrent' | 'queued'

/** Which limit of which owner: an organization, a project or a key. */
export type LeaseKey<Kind extends string> = { readonly organization: string; readonly kind: Kind }

/** The request of a process to a limit. */
export type LeaseDemand = {
  /** The needs of requests, each granted whole or not at all, in this order; of slots, one each. */
  readonly needs: readonly number[]
  /** An integer amount for requests to come, granted as far as it is there, and not at all if a need was not granted. */
  readonly ahead: number
}

/** A need above the limit of a bucket is granted when that is full, and leaves a debt of one minute at most. */
export type BucketRenewal = LeaseKey<BucketKind> &
  LeaseDemand & {
    /** The amount of a minute. */
    readonly limit: number
    /** The amount used beyond earlier grants; negative if some is returned. It is charged first. */
    readonly correction: number
  }

export type SlotRenewal = LeaseKey<SlotKind> &
  LeaseDemand & {
    readonly limit: number
    /** How many the process has, without those that it returns: it keeps them even if the limit is lower by now. */
    readonly held: number
  }

export type LeaseRenewal = BucketRenewal | SlotRenewal

export type LeaseGrant = {
  /** For each need, whether it was granted. */
  readonly granted: readonly boolean[]
  readonly ahead: number
  /** The sum that all processes have taken from the limit: units of `TokenBucket`, or slots. */
  readonly spent: number
}

/** The limits as they are in the database, which has locked them. */
export type LeaseState = {
  readonly buckets: readonly BucketRow[]
  /** How many slots the other processes have. */
  readonly slots: readonly (LeaseKey<SlotKind> & { readonly others: number })[]
  /** Milliseconds on the clock of the database. */
  readonly now: number
}

/** A bucket, and the slots of this process. */
export type BucketRow = LeaseKey<BucketKind> & BucketState
export type SlotRow = LeaseKey<SlotKind> & { readonly held: number }

/** The state of a bucket before its first use; its limit is replaced by the first renewal. */
export const unusedBucket: BucketState = { limit: 1, spent: 0, refilledAt: 0 }

/** A clock that is behind the last refill by more than this was set back. */
const maxClockLagMs = 60_000

/** Executes the renewals; returns the grants in their order, and the rows as they are to be written. */
export function renewLeases(renewals: readonly LeaseRenewal[], state: LeaseState) {
  const buckets = new Map(state.buckets.map((row) => [keyOf(row), row]))
  const others = new Map(state.slots.map((row) => [keyOf(row), row.others]))
  const rows = { buckets: [] as BucketRow[], slots: [] as SlotRow[] }
  const grants = renewals.map((renewal) => {
    const { organization } = renewal
    if ('held' in renewal) {
      const { held, ...grant } = renewSlots(renewal, others.get(keyOf(renewal)) ?? 0)
      rows.slots.push({ organization, kind: renewal.kind, held })
      return grant
    }
    const { after, ...grant } = renewBucket(renewal, buckets.get(keyOf(renewal)) ?? unusedBucket, state.now)
    rows.buckets.push({ organization, kind: renewal.kind, ...after })
    return grant
  })
  return { grants, rows }
}

function renewBucket(
  { limit, correction, needs, ahead }: BucketRenewal,
  before: BucketState,
  now: number,
): LeaseGrant & { readonly after: BucketState } {
  const wasSetBack = before.refilledAt > now + maxClockLagMs
  const bucket = TokenBucket.from(wasSetBack ? { ...before, refilledAt: now } : before)
  bucket.resize(limit, now)
  bucket.charge(correction, now)
  const granted = needs.map((amount) => bucket.take(amount, now) === 0)
  const given = granted.includes(false) ? 0 : Math.min(ahead, bucket.remaining(now))
  bucket.charge(given, now)
  const after = bucket.state
  return { granted, ahead: given, spent: after.spent, after }
}

function renewSlots(
  { limit, held, needs, ahead }: SlotRenewal,
  others: number,
): LeaseGrant & { readonly held: number } {
  const free = Math.max(0, limit - others - held)
  const taken = Math.min(needs.length, free)
  const given = taken < needs.length ? 0 : Math.min(ahead, free - taken)
  const after = held + taken + given
  return { granted: needs.map((_, index) => index < taken), ahead: given, spent: others + after, held: after }
}

function keyOf({ organization, kind }: LeaseKey<string>): string {
  return `${kind} ${organization}`
}
