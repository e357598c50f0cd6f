import { type BucketState, TokenBucket } from '../../../lib/token-bucket.ts'

/** The limits that are token buckets, and those of what an organization may have at a time. */
export type BucketKind = 'requests' | 'tokens'
export type SlotKind = 'concurrent' | 'queued'

/** The tokens that a process takes from a bucket or returns to it. */
export type BucketRenewal = {
  readonly organization: string
  readonly kind: BucketKind
  /** The amount of a minute. */
  readonly limit: number
  /**
   * The needs of requests, each granted whole or not at all, in this order. An amount above the limit is granted by a full
   * bucket, and leaves a debt of one minute at most.
   */
  readonly needs: readonly number[]
  /** An integer amount for requests to come, granted as far as it is there, and not at all if a need was not granted. */
  readonly spare: number
  /** The amount used beyond earlier grants; negative if some is returned. It is charged first. */
  readonly correction: number
}

export type BucketGrant = {
  /** For each need, whether it was granted. */
  readonly granted: readonly boolean[]
  readonly spare: number
  /** The amount that all processes have taken from the bucket, in the units of `TokenBucket`. */
  readonly spent: number
}

/** The slots of an organization that a process takes or returns. */
export type SlotRenewal = {
  readonly organization: string
  readonly kind: SlotKind
  readonly limit: number
  /**
   * How many it uses and waits for. It keeps those of them that it has, even if the limit is lower by now; others are
   * granted as far as the limit allows.
   */
  readonly needed: number
  /** How many more it would keep for requests to come, granted as far as they are free. */
  readonly spare: number
}

/** `held`: how many it has from now on; `others`: how many all other processes have. */
export type SlotGrant = { readonly held: number; readonly others: number }

/** The renewals of one transaction: no bucket and no kind of slots may be there twice. */
export type LeaseRenewals = {
  readonly buckets: readonly BucketRenewal[]
  readonly slots: readonly SlotRenewal[]
}

/** The grants of the renewals, in their order. */
export type LeaseGrants = { readonly buckets: readonly BucketGrant[]; readonly slots: readonly SlotGrant[] }

/** The limits as they are in the database; `now` is milliseconds on its clock. */
export type LeaseState = {
  readonly now: number
  bucketOf(renewal: BucketRenewal): BucketState
  slotsOf(renewal: SlotRenewal): SlotGrant
}

/** A bucket, and the slots of this process, as they are to be written. */
export type ChangedBucket = Pick<BucketRenewal, 'organization' | 'kind'> & BucketState
export type ChangedSlots = Pick<SlotRenewal, 'organization' | 'kind'> & Pick<SlotGrant, 'held'>

/** The state of a bucket before its first use; its limit is replaced by the first renewal. */
export const unusedBucket: BucketState = { limit: 1, spent: 0, refilledAt: 0 }

/** A clock that is behind the last refill by more than this was set back. */
const maxClockLagMs = 60_000

/** Executes the renewals with limits that are locked in the database; returns the grants, and what has changed. */
export function renewLeases({ buckets, slots }: LeaseRenewals, state: LeaseState) {
  const changed = { buckets: [] as ChangedBucket[], slots: [] as ChangedSlots[] }
  const grants: LeaseGrants = {
    buckets: buckets.map((renewal) => {
      const { organization, kind } = renewal
      const { grant, after } = renewBucket(state.bucketOf(renewal), renewal, state.now)
      if (after) changed.buckets.push({ organization, kind, ...after })
      return grant
    }),
    slots: slots.map((renewal) => {
      const { organization, kind } = renewal
      const before = state.slotsOf(renewal)
      const grant = renewSlots(before, renewal)
      if (grant.held !== before.held) changed.slots.push({ organization, kind, held: grant.held })
      return grant
    }),
  }
  return { grants, changed }
}

/** `after` is undefined if there is nothing to write: refilling is only a matter of time. */
function renewBucket(
  before: BucketState,
  { limit, needs, spare, correction }: BucketRenewal,
  now: number,
): { readonly grant: BucketGrant; readonly after: BucketState | undefined } {
  const wasSetBack = before.refilledAt > now + maxClockLagMs
  const bucket = TokenBucket.from(wasSetBack ? { ...before, refilledAt: now } : before)
  bucket.resize(limit, now)
  if (correction !== 0) bucket.charge(correction, now)
  const granted = needs.map((amount) => bucket.take(amount, now) === 0)
  const given = granted.includes(false) ? 0 : Math.min(spare, bucket.remaining(now))
  if (given > 0) bucket.take(given, now)
  const isTaken = correction !== 0 || given > 0 || granted.includes(true)
  const isChanged = wasSetBack || bucket.limit !== before.limit || isTaken
  const after = bucket.state
  return { grant: { granted, spare: given, spent: after.spent }, after: isChanged ? after : undefined }
}

function renewSlots({ held, others }: SlotGrant, { limit, needed, spare }: SlotRenewal): SlotGrant {
  const kept = needed <= held ? needed : Math.max(held, Math.min(needed, limit - others))
  return { held: kept + Math.max(0, Math.min(spare, limit - others - kept)), others }
}
