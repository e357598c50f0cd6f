import { type BucketStatus, TokenBucket } from '../../../lib/token-bucket.ts'
import type { BucketRenewal, BucketGrant, BucketKind } from './lease-renewal.ts'
import { idleTicks, Lease, type RunningRenewal } from './lease.ts'

/**
 * The part of a bucket that this process has taken and not used yet: with what its requests need it takes a fixed quantum,
 * and it returns what is left when the bucket has not been used for some ticks. A request is answered with 0, or with the
 * milliseconds until the amount may be there.
 */
export class LeasedBucket extends Lease<BucketRenewal, BucketGrant, number> {
  readonly #kind: BucketKind
  readonly #organization: string
  readonly #now: () => number
  #quantum: number
  /** The amount that can be taken without a renewal; negative if more was used. */
  #balance = 0
  /** The last amount that was taken: an arriving request needs about as much. */
  #lastAmount = 1000
  #ticks = idleTicks
  /** When the last renewal began, and the bucket as it found it; `#knownAt` is on the clock of `performance.now()`. */
  #begunAt = 0
  #known: TokenBucket
  #knownAt = Number.NEGATIVE_INFINITY
  /** Whether the last renewal has left nothing. */
  #isEmpty = false

  /** `now` is milliseconds of a monotonic clock. */
  constructor(kind: BucketKind, organization: string, limit: number, now: () => number) {
    super()
    this.#kind = kind
    this.#organization = organization
    this.#now = now
    this.#known = new TokenBucket(limit, now())
    this.#quantum = quantumOf(limit)
  }

  get limit(): number {
    return this.#known.limit
  }

  /** Changes the limit; what is known and held keeps its share of it. */
  resize(limit: number): void {
    const before = this.limit
    if (limit === before) return
    this.#known.resize(limit, this.#now())
    this.#balance = Math.floor((this.#balance * this.limit) / before)
    this.#quantum = quantumOf(this.limit)
    this.#knownAt = Number.NEGATIVE_INFINITY
  }

  /** Takes the amount if it is held; returns false otherwise. */
  tryTake(amount: number): boolean {
    this.#ticks = 0
    this.#lastAmount = amount
    this.arrivals.take()
    if (amount > this.#balance) return false
    this.#balance -= amount
    return true
  }

  /** The milliseconds until the amount may be there if the last renewal was just now and has not left it; 0 otherwise. */
  refusalOf(amount: number): number {
    if (this.waiting.length > 0 || this.running || !this.#isKnown()) return 0
    return this.#known.waitFor(amount - this.#balance, this.#now())
  }

  /** Takes the amount even if it is not there; a negative amount is returned. */
  charge(amount: number): void {
    this.#balance -= amount
    this.#serveWaiting()
  }

  /** The level of the whole bucket: that of the last renewal, without what was used since. */
  status(): BucketStatus {
    const now = this.#now()
    const bucket = TokenBucket.from(this.#known.state)
    bucket.charge((this.running?.renewal.correction ?? 0) - this.#balance, now)
    return bucket.status(now)
  }

  override isIdle(): boolean {
    return super.isIdle() && this.#balance === 0
  }

  isDue(keep: boolean): boolean {
    const isOff = this.#balance < 0 || this.#balance > (keep ? this.#wanted() : 0)
    return this.waiting.length > 0 || isOff || (keep && this.#isShort())
  }

  /** A small limit is exact, and a quantum is to last. */
  isUrgent(): boolean {
    return this.#quantum === 0 ? this.isDue(true) : this.#isShort()
  }

  protected age(): void {
    this.#ticks++
  }

  protected prepare(keep: boolean): RunningRenewal<BucketRenewal, number> {
    const wanted = keep ? this.#wanted() : 0
    const sent = this.waiting.splice(0)
    const isShort = sent.length > 0 || this.#isShort()
    // A request that needs more than is held is granted it together with what is left in the database.
    const kept = Math.min(Math.max(0, this.#balance), sent.length > 0 ? 0 : wanted)
    const correction = kept - this.#balance
    this.#balance = kept
    this.#begunAt = Math.floor(this.#now())
    const needs = sent.map(({ amount }) => amount)
    const spare = isShort ? wanted - kept : 0
    const [organization, kind, limit] = [this.#organization, this.#kind, this.limit]
    return { renewal: { organization, kind, limit, needs, spare, correction }, sent }
  }

  protected apply(
    { granted, spare, spent }: BucketGrant,
    { renewal, sent }: RunningRenewal<BucketRenewal, number>,
  ): void {
    // The limit may have been changed since the renewal began.
    const { limit } = this
    this.#known = TokenBucket.from({ limit: renewal.limit, spent, refilledAt: this.#begunAt })
    this.#known.resize(limit, this.#now())
    this.#knownAt = performance.now()
    this.#isEmpty = spare < renewal.spare
    this.#balance += Math.floor((spare * limit) / renewal.limit)
    for (const [index, { amount, abandoned, resolve }] of sent.entries()) {
      // A need above the limit has left a debt of one minute at most.
      if (granted[index] && abandoned) this.#balance += Math.min(amount, 2 * renewal.limit)
      resolve(granted[index] ? 0 : Math.max(1, this.#known.waitFor(amount, this.#now())))
    }
    this.#serveWaiting()
  }

  /** A debt is still owed, and an amount to be returned is still held. */
  protected revert({ correction }: BucketRenewal): void {
    this.#balance -= correction
  }

  /** Requests that came while a renewal ran need no other one if there is enough for them. */
  #serveWaiting(): void {
    for (let first = this.waiting[0]; first && first.amount <= this.#balance; first = this.waiting[0]) {
      this.waiting.shift()
      this.#balance -= first.amount
      first.resolve(0)
    }
  }

  /** Whether little of what is wanted is held, and a renewal may find more. */
  #isShort(): boolean {
    const isEmpty = this.#isEmpty && this.#isKnown()
    return this.#balance < this.#wanted() / 2 && this.running === undefined && !isEmpty
  }

  /** Whether the state of the bucket is new enough to refuse a request without a renewal. */
  #isKnown(): boolean {
    return performance.now() - this.#knownAt < maxKnownAgeMs
  }

  /** How much to hold: the quantum while the bucket is in use, or what arriving requests need. */
  #wanted(): number {
    const expected = Math.min(this.arrivals.count, Math.floor(this.limit / arrivalsPart / this.#lastAmount))
    return Math.max(this.#ticks < idleTicks ? this.#quantum : 0, expected * this.#lastAmount)
  }
}

/** The amount that refills in a fifth of a second. A lower limit than 600 a minute has none: it is exact to the request. */
function quantumOf(limit: number): number {
  return limit < 600 ? 0 : Math.floor(limit / 300)
}

const maxKnownAgeMs = 100
/** Requests that arrive together lease at most this part of the limit. */
const arrivalsPart = 20
