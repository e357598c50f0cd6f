import { monotonicNow } from '../../../lib/time.ts'
import { settlementOf } from '../../../lib/token-bucket.ts'
import type { Limits, LimitValues, OrganizationLimiter, RateLimitStatus } from '../../ports/limits.ts'
import type { ProcessIdentity } from '../../common/process-identity.ts'
import { LeaseRounds, type OrganizationLeases } from './lease-rounds.ts'
import type { RenewLeases } from './lease-store.ts'
import { LeasedBucket } from './leased-bucket.ts'
import { LeasedSlots } from './leased-slots.ts'

export type LeasedLimitsOptions = {
  /** A monotonic clock in milliseconds. */
  readonly clock?: (() => number) | undefined
  /** How long requests wait for a renewal. */
  readonly renewalTimeoutMs?: number | undefined
}

/** Limits that this process shares with the others of its database. */
export type LeasedLimits = Limits & {
  /** Returns what was taken and not used; all calls must have ended. */
  stop(): Promise<void>
}

/** Creates the limits of this process, which renews its leases with `renewLeases`. */
export function createLeasedLimits(
  renewLeases: RenewLeases,
  identity: Pick<ProcessIdentity, 'id'>,
  { clock = monotonicNow, renewalTimeoutMs }: LeasedLimitsOptions = {},
): LeasedLimits {
  const rounds = new LeaseRounds(renewLeases, identity, renewalTimeoutMs)
  return {
    create: (organization, limits) => new LeasedLimiter(organization, limits, clock, rounds),
    stop: () => rounds.stop(),
  }
}

/** The share of this process of the limits of one organization. Nothing is waited for where it is enough. */
class LeasedLimiter implements OrganizationLimiter, OrganizationLeases {
  readonly buckets: readonly LeasedBucket[]
  readonly slots: readonly LeasedSlots[]
  readonly #requests: LeasedBucket
  readonly #tokens: LeasedBucket
  readonly #concurrent: LeasedSlots
  readonly #queued: LeasedSlots
  readonly #rounds: LeaseRounds

  constructor(organization: string, limits: LimitValues, now: () => number, rounds: LeaseRounds) {
    this.#requests = new LeasedBucket('requests', organization, limits.requestsPerMinute, now)
    this.#tokens = new LeasedBucket('tokens', organization, limits.tokensPerMinute, now)
    this.#concurrent = new LeasedSlots('concurrent', organization, limits.concurrentRequests)
    this.#queued = new LeasedSlots('queued', organization, 0)
    this.buckets = [this.#requests, this.#tokens]
    this.slots = [this.#concurrent, this.#queued]
    this.#rounds = rounds
  }

  get maxConcurrent(): number {
    return this.#concurrent.limit
  }

  setLimits(limits: LimitValues): void {
    this.#requests.resize(limits.requestsPerMinute)
    this.#tokens.resize(limits.tokensPerMinute)
    this.#concurrent.resize(limits.concurrentRequests)
  }

  takeRequest(opensCall: boolean): number | Promise<number> {
    const waitMs = this.#take(this.#requests, 1)
    return opensCall && waitMs instanceof Promise ? this.#leaseCall(waitMs) : waitMs
  }

  refundRequest(): void {
    this.#requests.charge(-1)
    this.#changed(this.#requests)
  }

  takeTokens(tokens: number): number | Promise<number> {
    return this.#take(this.#tokens, tokens)
  }

  settleTokens(taken: number, used: number): void {
    const amount = settlementOf(this.#tokens.limit, taken, used)
    if (amount === 0) return
    this.#tokens.charge(amount)
    this.#changed(this.#tokens)
  }

  takeSlot(): boolean | Promise<boolean> {
    return this.#takeSlot(this.#concurrent)
  }

  releaseSlot(): void {
    this.#concurrent.release()
    this.#changed(this.#concurrent)
  }

  takeQueued(limit: number): boolean | Promise<boolean> {
    this.#queued.resize(limit)
    return this.#takeSlot(this.#queued)
  }

  releaseQueued(): void {
    this.#queued.release()
    this.#changed(this.#queued)
  }

  status(): RateLimitStatus {
    return { requests: this.#requests.status(), tokens: this.#tokens.status() }
  }

  isIdle(): boolean {
    return [...this.buckets, ...this.slots].every((lease) => lease.isIdle())
  }

  /** The renewal that admits the request also leases what its call is about to take. */
  async #leaseCall(admission: Promise<number>): Promise<number> {
    const arrivals = [this.#tokens.arrivals, this.#concurrent.arrivals]
    for (const expected of arrivals) expected.add()
    let admitted = false
    try {
      const waitMs = await admission
      admitted = waitMs === 0
      return waitMs
    } finally {
      for (const expected of arrivals) expected.settle(admitted)
    }
  }

  #take(bucket: LeasedBucket, amount: number): number | Promise<number> {
    if (bucket.tryTake(amount)) {
      this.#changed(bucket)
      return 0
    }
    const waitMs = bucket.refusalOf(amount)
    return waitMs > 0 ? waitMs : this.#rounds.ask(this, bucket, amount)
  }

  #takeSlot(slots: LeasedSlots): boolean | Promise<boolean> {
    if (slots.tryTake()) {
      this.#changed(slots)
      return true
    }
    return slots.isFull() ? false : this.#rounds.ask(this, slots, 1)
  }

  #changed(lease: LeasedBucket | LeasedSlots): void {
    if (lease.isUrgent()) this.#rounds.start(this)
    else this.#rounds.watch(this)
  }
}
