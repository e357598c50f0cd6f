import { limitExceeded } from '../limit-errors.ts'
import type { LimitValues, RateLimitStatus } from '../organization-limiter.ts'
import type { ExchangeRounds, PreparedExchanges, RoundMember } from './exchange-rounds.ts'
import { LeasedBucket } from './leased-bucket.ts'
import { LeasedSlots } from './leased-slots.ts'

/** What this process holds of the limits of one organization. Nothing is waited for where it holds enough. */
export class LeasedLimiter implements RoundMember {
  readonly #requests: LeasedBucket
  readonly #tokens: LeasedBucket
  readonly #concurrent: LeasedSlots
  readonly #queued: LeasedSlots
  readonly #rounds: ExchangeRounds

  /** `now` is milliseconds of a monotonic clock. */
  constructor(organization: string, limits: LimitValues, now: () => number, rounds: ExchangeRounds) {
    this.#requests = new LeasedBucket('requests', organization, limits.requestsPerMinute, now)
    this.#tokens = new LeasedBucket('tokens', organization, limits.tokensPerMinute, now)
    this.#concurrent = new LeasedSlots('concurrent', organization, limits.concurrentRequests)
    this.#queued = new LeasedSlots('queued', organization, 0)
    this.#rounds = rounds
  }

  /** The number of calls that may be open at once, in all processes. */
  get maxConcurrent(): number {
    return this.#concurrent.limit
  }

  /** Changes the limits; what was spent stays spent. */
  setLimits(limits: LimitValues): void {
    this.#requests.resize(limits.requestsPerMinute)
    this.#tokens.resize(limits.tokensPerMinute)
    this.#concurrent.resize(limits.concurrentRequests)
  }

  /** Counts a request, or throws the 429; `opensCall`: whether it is about to take a slot and tokens. */
  takeRequest(opensCall: boolean): void | Promise<void> {
    const taken = this.#take(this.#requests, 1)
    return taken && opensCall ? this.#leaseCall(taken) : taken
  }

  /** Takes tokens, or throws the 429. */
  takeTokens(tokens: number): void | Promise<void> {
    return this.#take(this.#tokens, tokens)
  }

  /** Returns the tokens of a call that will not run. */
  refundTokens(tokens: number): void {
    this.#chargeTokens(-this.#debitOf(tokens))
  }

  /** Takes a concurrency slot; returns false if none is free. */
  takeSlot(): boolean | Promise<boolean> {
    return this.#takeSlot(this.#concurrent)
  }

  releaseSlot(): void {
    this.#releaseSlot(this.#concurrent)
  }

  /** Takes a slot for a queued run; returns false if as many as `limit` are taken. */
  takeQueued(limit: number): boolean | Promise<boolean> {
    this.#queued.resize(limit)
    return this.#takeSlot(this.#queued)
  }

  releaseQueued(): void {
    this.#releaseSlot(this.#queued)
  }

  /** Frees the slot, and debits the tokens used beyond the reserved ones, or refunds the rest. */
  settleCall(reserved: number, used: number): void {
    this.releaseSlot()
    this.#chargeTokens(used - Math.min(reserved, Math.max(used, this.#debitOf(reserved))))
  }

  status(): RateLimitStatus {
    return { requests: this.#requests.status(), tokens: this.#tokens.status() }
  }

  prepare(keep: boolean): PreparedExchanges {
    const [requests, tokens] = [this.#requests.prepare(keep), this.#tokens.prepare(keep)]
    const slots = [this.#concurrent, this.#queued].flatMap((slots) => slots.prepare(keep) ?? [])
    if (requests === undefined && tokens === undefined && slots.length === 0) return { buckets: [], slots }
    // An exchange always tells the state of both buckets.
    return { buckets: [requests ?? this.#requests.refresh(), tokens ?? this.#tokens.refresh()], slots }
  }

  tick(): boolean {
    return this.#parts.map((part) => part.tick()).includes(true)
  }

  isIdle(): boolean {
    return this.#parts.every((part) => part.isIdle())
  }

  abandon(error: Error): void {
    for (const part of this.#parts) part.abandon(error)
  }

  forgetSlots(): void {
    this.#concurrent.forget()
    this.#queued.forget()
  }

  /** The exchange that admits the request also leases what its call is about to take. */
  async #leaseCall(admitted: Promise<void>): Promise<void> {
    const arrivals = [this.#tokens.arrivals, this.#concurrent.arrivals]
    for (const expected of arrivals) expected.add()
    let passed = false
    try {
      await admitted
      passed = true
    } finally {
      for (const expected of arrivals) expected.settle(passed)
    }
  }

  #take(bucket: LeasedBucket, amount: number): void | Promise<void> {
    if (bucket.tryTake(amount)) return this.#changed(bucket)
    const waitMs = bucket.refusalOf(amount)
    if (waitMs > 0) throw limitExceeded(bucket.kind, bucket.limit, waitMs)
    return this.#ask(bucket, amount)
  }

  async #ask(bucket: LeasedBucket, amount: number): Promise<void> {
    const waitMs = await this.#rounds.ask(this, () => bucket.take(amount))
    if (waitMs > 0) throw limitExceeded(bucket.kind, bucket.limit, waitMs)
  }

  #chargeTokens(amount: number): void {
    if (amount === 0) return
    this.#tokens.charge(amount)
    this.#changed(this.#tokens)
  }

  /** The part of the reserved tokens that was debited: a debt is one minute at most. */
  #debitOf(reserved: number): number {
    return Math.min(reserved, 2 * this.#tokens.limit)
  }

  #takeSlot(slots: LeasedSlots): boolean | Promise<boolean> {
    if (slots.tryTake()) {
      this.#changed(slots)
      return true
    }
    if (slots.isFull()) return false
    return this.#rounds.ask(this, () => slots.take())
  }

  #releaseSlot(slots: LeasedSlots): void {
    slots.release()
    this.#changed(slots)
  }

  #changed(part: LeasedBucket | LeasedSlots): void {
    if (part.isUrgent()) this.#rounds.start(this)
    else this.#rounds.watch(this)
  }

  get #parts(): readonly (LeasedBucket | LeasedSlots)[] {
    return [this.#requests, this.#tokens, this.#concurrent, this.#queued]
  }
}
