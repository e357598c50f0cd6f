import { monotonicNow } from '../../../lib/time.ts'
import { settlementOf } from '../../../lib/token-bucket.ts'
import type { Limits, LimitValues, OrganizationLimiter, RateLimitStatus } from '../../ports/limits.ts'
import type { ProcessIdentity } from '../../common/process-identity.ts'
import { LeaseRounds, type OwnerLeases } from './lease-rounds.ts'
import type { RenewLeases } from './lease-store.ts'
import { LeasedBucket } from './leased-bucket.ts'
import { LeasedSlots } from './leased-slots.ts'

type LeasedLimitsOptions = {
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

/** The share of this process of the limits of one organization, project or key. Nothing is waited for where it is enough. */
class LeasedLimiter implements OrganizationLimiter {
  readonly #requests: LeasedBucket
  readonly #tokens: LeasedBucket
  readonly #concurrent: LeasedSlots
  readonly #queued: LeasedSlots
  readonly #all: OwnerLeases
  readonly #rounds: LeaseRounds

  constructor(organization: string, limits: LimitValues, now: () => number, rounds: LeaseRounds) {
    this.#requests = new LeasedBucket({ organization, kind: 'requests' }, limits.requestsPerMinute, now)
    this.#tokens = new LeasedBucket({ organization, kind: 'tokens' }, limits.tokensPerMinute, now)
    this.#concurrent = new LeasedSlots({ organization, kind: 'concurrent' }, limits.concurrentRequests)
    this.#queued = new LeasedSlots({ organization, kind: 'queued' }, 0)
    this.#all = [this.#requests, this.#tokens, this.#concurrent, this.#queued]
    this.#rounds = rounds
  }

  get maxConcurrent(): number {
    return this.#concurrent.limit
  }

  setLimits(limits: LimitValues): void {
    this.#requests.resize(limits.requestsPerMinute)
    this.#tokens.resize(limits.tokensPerMinute)
    this.#concurrent.limit = limits.concurrentRequests
  }

  takeRequest(opensCall: boolean): number | Promise<number> {
    const waitMs = this.#rounds.take(this.#requests, 1, this.#all)
    return opensCall && waitMs instanceof Promise ? this.#leaseCall(waitMs) : waitMs
  }

  refundRequest(): void {
    this.#rounds.charge(this.#requests, -1, this.#all)
  }

  takeTokens(tokens: number): number | Promise<number> {
    return this.#rounds.take(this.#tokens, tokens, this.#all)
  }

  settleTokens(taken: number, used: number): void {
    const amount = settlementOf(this.#tokens.limit, taken, used)
    if (amount !== 0) this.#rounds.charge(this.#tokens, amount, this.#all)
  }

  takeSlot(): boolean | Promise<boolean> {
    return this.#takeSlot(this.#concurrent)
  }

  releaseSlot(): void {
    this.#rounds.charge(this.#concurrent, -1, this.#all)
  }

  takeQueued(limit: number): boolean | Promise<boolean> {
    this.#queued.limit = limit
    return this.#takeSlot(this.#queued)
  }

  releaseQueued(): void {
    this.#rounds.charge(this.#queued, -1, this.#all)
  }

  status(): RateLimitStatus {
    return { requests: this.#requests.status(), tokens: this.#tokens.status() }
  }

  isIdle(): boolean {
    return this.#all.every((lease) => lease.isIdle())
  }

  #takeSlot(slots: LeasedSlots): boolean | Promise<boolean> {
    const waitMs = this.#rounds.take(slots, 1, this.#all)
    return waitMs instanceof Promise ? waitMs.then((waitMs) => waitMs === 0) : waitMs === 0
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
}
