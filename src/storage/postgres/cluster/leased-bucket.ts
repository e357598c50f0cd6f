import { type BucketStatus, TokenBucket } from '../../../lib/token-bucket.ts'
import { Lease, type WaitingRequest } from './lease.ts'
import type { BucketKind, BucketRenewal, LeaseGrant, LeaseKey } from './lease-renewal.ts'

/** A limit below that of 600 a minute is exact. */
const smallLimit = 600
/** A quantum is the part of the limit that refills in a fifth of a second. */
const quantumPart = 300
/** Requests that arrive together lease at most this part of the limit. */
const arrivalsPart = 20

/** The lease of a token bucket. */
export class LeasedBucket extends Lease {
  readonly #key: LeaseKey<BucketKind>
  readonly #now: () => number
  /** The bucket as the last renewal has left it. */
  #known: TokenBucket
  /** The limit and the time with which the last renewal began. */
  #begun: { readonly limit: number; readonly at: number }
  /** The last amount that was taken: an arriving request needs about as much. */
  #lastAmount = 1000

  /** `now` is milliseconds of a monotonic clock. */
  constructor(key: LeaseKey<BucketKind>, limit: number, now: () => number) {
    super()
    this.#key = key
    this.#now = now
    this.#known = new TokenBucket(limit, now())
    this.#begun = { limit, at: now() }
  }

  get limit(): number {
    return this.#known.limit
  }

  /** Changes the limit; what is known and held keeps its share of it. */
  resize(limit: number): void {
    const before = this.limit
    if (limit === before) return
    this.#known.resize(limit, this.#now())
    this.balance = Math.floor((this.balance * this.limit) / before)
    this.isFresh = false
  }

  /** The level of the whole bucket: that of the last renewal, without what was used since. */
  status(): BucketStatus {
    const now = this.#now()
    const bucket = TokenBucket.from(this.#known.state)
    bucket.charge((this.running?.correction ?? 0) - this.balance, now)
    return bucket.status(now)
  }

  override take(amount: number): number | undefined {
    this.#lastAmount = amount
    return super.take(amount)
  }

  begin(): BucketRenewal {
    const { limit } = this
    this.#begun = { limit, at: Math.floor(this.#now()) }
    return { ...this.#key, limit, ...this.prepare() }
  }

  override receive({ granted, ahead, spent }: LeaseGrant): void {
    // The limit may have been changed since the renewal began.
    const { limit } = this
    const { limit: renewed, at } = this.#begun
    this.#known = TokenBucket.from({ limit: renewed, spent, refilledAt: at })
    this.#known.resize(limit, this.#now())
    super.receive({ granted, ahead: Math.floor((ahead * limit) / renewed), spent })
  }

  protected get quantum(): number {
    return this.limit < smallLimit ? 0 : Math.floor(this.limit / quantumPart)
  }

  protected amountOf(arriving: number): number {
    return Math.min(arriving, Math.floor(this.limit / arrivalsPart / this.#lastAmount)) * this.#lastAmount
  }

  /** Without a renewal, if the last one was just now and has left less, and nothing is about to change that. */
  protected rejectionOf(amount: number): number | undefined {
    if (!this.isFresh || this.running || this.waiting.length > 0) return undefined
    return this.#known.waitFor(amount - this.balance, this.#now()) || undefined
  }

  protected refuse({ amount, resolve }: WaitingRequest): void {
    resolve(Math.max(1, this.#known.waitFor(amount, this.#now())))
  }
}
