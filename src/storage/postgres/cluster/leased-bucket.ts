import { type BucketStatus, TokenBucket } from '../../../lib/token-bucket.ts'
import { Arrivals } from './arrivals.ts'
import type { BucketExchange, BucketGrant, BucketKind } from './lease-exchange.ts'
import { idleTicks, type PreparedExchange, rejectAll, type WaitingRequest } from './lease-rounds.ts'

/**
 * The part of a bucket that this process has taken from the store and not used yet: with what its requests need it takes a
 * fixed quantum, and it returns what is left when the bucket has not been used for some ticks.
 */
export class LeasedBucket {
  readonly kind: BucketKind
  readonly arrivals = new Arrivals()
  readonly #organization: string
  readonly #now: () => number
  #quantum: number
  /** What can be taken without an exchange; negative for what was used beyond that. */
  #balance = 0
  /** The last amount that was taken: an arriving request needs about as much. */
  #lastAmount = 1000
  #ticks = idleTicks
  #waiting: Waiting[] = []
  /** The exchanges that are running, and their corrections, which the known bucket does not have yet. */
  #exchanging = 0
  #correcting = 0
  /** The bucket of the store as of the last exchange, whose time is on the clock of `performance.now()`. */
  #known: TokenBucket
  #knownAt = Number.NEGATIVE_INFINITY
  /** Whether the last exchange has left nothing. */
  #isEmpty = false

  /** `now` is milliseconds of a monotonic clock. */
  constructor(kind: BucketKind, organization: string, limit: number, now: () => number) {
    this.kind = kind
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
    this.#known.resize(limit, this.#now())
    if (this.limit === before) return
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

  /** The milliseconds until the amount may be there if the last exchange was just now and has not left it; 0 otherwise. */
  refusalOf(amount: number): number {
    if (this.#waiting.length + this.#exchanging > 0 || !this.#isKnown()) return 0
    return this.#known.waitFor(amount - this.#balance, this.#now())
  }

  /** Asks the store for the amount; resolves with 0, or with the milliseconds until it may be there. */
  take(amount: number): Promise<number> {
    return new Promise((resolve, reject) => this.#waiting.push({ amount, abandoned: false, resolve, reject }))
  }

  /** Rejects those that wait for the next exchange. */
  abandon(error: Error): void {
    rejectAll(this.#waiting.splice(0), error)
  }

  /** Takes the amount even if it is not there; a negative amount is returned. */
  charge(amount: number): void {
    this.#balance -= amount
    this.#serveWaiting()
  }

  /** Whether an exchange should not wait for the next tick: a small limit is exact, and a quantum is to last. */
  isUrgent(): boolean {
    if (this.#quantum === 0) return this.#isOff()
    const isEmpty = this.#isEmpty && this.#isKnown()
    return this.#balance < this.#wanted() / 2 && this.#exchanging === 0 && !isEmpty
  }

  /** Called at regular intervals; returns whether something is owed, or to be returned. */
  tick(): boolean {
    this.#ticks++
    this.arrivals.tick()
    return this.#waiting.length > 0 || this.#isOff()
  }

  /** Whether nothing is held, owed or waited for. */
  isIdle(): boolean {
    return this.#balance === 0 && this.#waiting.length === 0 && this.#exchanging === 0
  }

  /** Returns the next exchange if there is a reason for one; it answers the waiting requests. Without `keep` it returns all. */
  prepare(keep: boolean): PreparedExchange<BucketExchange, BucketGrant> | undefined {
    const sent = this.#waiting.splice(0, maxNeeds)
    const wanted = keep ? this.#wanted() : 0
    const kept = Math.min(Math.max(0, this.#balance), wanted)
    const correction = kept - this.#balance
    const spare = sent.length > 0 || kept < wanted / 2 ? wanted - kept : 0
    if (sent.length === 0 && correction === 0 && spare === 0) return undefined
    this.#balance = kept
    return this.#exchange(sent, spare, correction)
  }

  /** Returns an exchange that only reads the state of the bucket. */
  refresh(): PreparedExchange<BucketExchange, BucketGrant> {
    return this.#exchange([], 0, 0)
  }

  /** The level of the whole bucket: that of the last exchange, without what was used since. */
  status(): BucketStatus {
    const now = this.#now()
    const bucket = TokenBucket.from(this.#known.state)
    bucket.charge(this.#correcting - this.#balance, now)
    return bucket.status(now)
  }

  #exchange(
    sent: readonly Waiting[],
    spare: number,
    correction: number,
  ): PreparedExchange<BucketExchange, BucketGrant> {
    this.#exchanging++
    this.#correcting += correction
    const needs = sent.map(({ amount }) => amount)
    const { kind, limit } = this
    const exchange = { organization: this.#organization, kind, limit, needs, spare, correction }
    const preparedAt = this.#now()
    return {
      exchange,
      receive: (grant) => this.#receive(grant, sent, exchange, preparedAt),
      fail: (error) => this.#fail(error, sent, correction),
      abandon: (error) => rejectAll(sent, error),
    }
  }

  #receive(
    { granted, spare, spent }: BucketGrant,
    sent: readonly Waiting[],
    exchange: BucketExchange,
    preparedAt: number,
  ): void {
    this.#known = TokenBucket.from({ limit: exchange.limit, spent, refilledAt: Math.floor(preparedAt) })
    this.#knownAt = performance.now()
    this.#isEmpty = spare < exchange.spare
    this.#balance += spare
    this.#exchanging--
    this.#correcting -= exchange.correction
    for (const [index, { amount, abandoned, resolve }] of sent.entries()) {
      // A need above the limit has left a debt of one minute at most.
      if (granted[index] && abandoned) this.#balance += Math.min(amount, 2 * exchange.limit)
      resolve(granted[index] ? 0 : Math.max(1, this.#known.waitFor(amount, this.#now())))
    }
    this.#serveWaiting()
  }

  /** Requests that came while the exchange ran need no other one if there is enough for them. */
  #serveWaiting(): void {
    for (let first = this.#waiting[0]; first && first.amount <= this.#balance; first = this.#waiting[0]) {
      this.#waiting.shift()
      this.#balance -= first.amount
      first.resolve(0)
    }
  }

  /** What was owed is still owed, and what was to be returned is still held. */
  #fail(error: Error, sent: readonly Waiting[], correction: number): void {
    this.#balance -= correction
    this.#exchanging--
    this.#correcting -= correction
    for (const { reject } of sent) reject(error)
  }

  /** Whether more was used than is held, or more is held than is wanted. */
  #isOff(): boolean {
    return this.#balance < 0 || this.#balance > this.#wanted()
  }

  /** Whether the state of the bucket is new enough to refuse a request without an exchange. */
  #isKnown(): boolean {
    return performance.now() - this.#knownAt < maxKnownAgeMs
  }

  /** How much to hold: the quantum while the bucket is in use, or what arriving requests need. */
  #wanted(): number {
    const expected = Math.min(this.arrivals.count, Math.floor(this.limit / arrivalsPart / this.#lastAmount))
    return Math.max(this.#ticks < idleTicks ? this.#quantum : 0, expected * this.#lastAmount)
  }
}

type Waiting = WaitingRequest & {
  readonly amount: number
  resolve(waitMs: number): void
}

/** What refills in a fifth of a second. A lower limit than 600 a minute has none: it is exact to the request. */
function quantumOf(limit: number): number {
  return limit < 600 ? 0 : Math.floor(limit / 300)
}

/** The needs of one exchange. */
const maxNeeds = 1000
const maxKnownAgeMs = 100
/** Requests that arrive together lease at most this part of the limit. */
const arrivalsPart = 20
