import { TokenBucket } from '../../../lib/token-bucket.ts'
import type { BucketExchange, BucketGrant, BucketKind } from '../../../storage/ports/limit-leases.ts'
import type { BucketStatus } from '../organization-limiter.ts'
import type { PreparedExchange } from './exchange-rounds.ts'
import { Expected, type ExpectedPart } from './expected.ts'
import { Recent } from './recent.ts'
import { abandonAll, type WaitingRequest } from './waiting-request.ts'

/** The part of a bucket that this process has taken from the store and not used yet. */
export class LeasedBucket {
  readonly kind: BucketKind
  readonly #organization: string
  readonly #now: () => number
  readonly #used = new Recent((one, other) => one + other)
  readonly #expected = new Expected()
  /** What can be taken without an exchange; negative for what was used beyond that. */
  #balance = 0
  #waiting: Waiting[] = []
  /** The exchanges that are running, and their corrections, which the known bucket does not have yet. */
  #exchanging = 0
  #correcting = 0
  /** The bucket of the store as of the last exchange, whose time is on the clock of `performance.now()`. */
  #known: TokenBucket
  #knownAt = Number.NEGATIVE_INFINITY

  /** `now` is milliseconds of a monotonic clock. */
  constructor(kind: BucketKind, organization: string, limit: number, now: () => number) {
    this.kind = kind
    this.#organization = organization
    this.#now = now
    this.#known = new TokenBucket(limit, now())
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
    this.#knownAt = Number.NEGATIVE_INFINITY
  }

  /** Takes the amount if it is held; returns false otherwise. */
  tryTake(amount: number): boolean {
    if (amount > this.#balance) return false
    this.#balance -= amount
    this.#used.add(amount)
    this.#expected.taken()
    return true
  }

  /** The milliseconds until the amount may be there if the last exchange was just now and has not left it; 0 otherwise. */
  refusalOf(amount: number): number {
    const isAsking = this.#waiting.length + this.#exchanging > 0
    if (isAsking || performance.now() - this.#knownAt > maxRefusalAgeMs) return 0
    return this.#known.waitFor(amount - this.#balance, this.#now())
  }

  /** Asks the store for the amount; resolves with 0, or with the milliseconds until it may be there. */
  take(amount: number): Promise<number> {
    this.#expected.taken()
    return new Promise((resolve, reject) => this.#waiting.push({ amount, abandoned: false, resolve, reject }))
  }

  /** Rejects those that wait for the next exchange. */
  abandon(error: Error): void {
    abandonAll(this.#waiting.splice(0), error)
  }

  /** The next exchange asks for this amount as well, as far as the bucket has plenty. */
  expect(amount: number): ExpectedPart {
    return this.#expected.add(amount)
  }

  /** Takes the amount even if it is not there; a negative amount is returned. */
  charge(amount: number): void {
    this.#balance -= amount
    if (amount > 0) this.#used.add(amount)
  }

  /** Whether an exchange should not wait for the next round, because little is left for this process or for all. */
  isUrgent(): boolean {
    const wanted = this.#wanted()
    if (wanted === 0) return this.#balance !== 0 && this.#isLow(this.#balance)
    return this.#balance < wanted / 2 && this.#exchanging === 0
  }

  /** Whether a round of exchanges has something to do for this bucket. */
  isDue(): boolean {
    const wanted = this.#wanted()
    if (this.#waiting.length > 0 || this.#balance < 0) return true
    return this.#balance < wanted / 2 || this.#balance > 2 * wanted
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
    if (sent.length === 0 && correction === 0 && kept === wanted) return undefined
    this.#balance = kept
    return this.#exchange(sent, wanted - kept, correction)
  }

  /** Returns an exchange that only reads the state of the bucket. */
  refresh(): PreparedExchange<BucketExchange, BucketGrant> {
    return this.#exchange([], 0, 0)
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
      abandon: (error) => abandonAll(sent, error),
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
    this.#balance += spare
    this.#exchanging--
    this.#correcting -= exchange.correction
    for (const [index, { amount, abandoned, resolve }] of sent.entries()) {
      // A need above the limit has left a debt of one minute at most.
      if (granted[index] && abandoned) this.#balance += Math.min(amount, 2 * exchange.limit)
      else if (granted[index]) this.#used.add(amount)
      resolve(granted[index] ? 0 : Math.max(1, this.#known.waitFor(amount, this.#now())))
    }
  }

  /** What was owed is still owed, and what was to be returned is still held. */
  #fail(error: Error, sent: readonly Waiting[], correction: number): void {
    this.#balance -= correction
    this.#exchanging--
    this.#correcting -= correction
    for (const { reject } of sent) reject(error)
  }

  /** How much to hold: enough until the next exchange, but what is not expected only of a bucket that has plenty. */
  #wanted(): number {
    const wanted = Math.ceil(2 * this.#used.value)
    const expected = Math.min(this.#expected.value, Math.max(0, this.#balance) + this.#plenty())
    return Math.max(this.#isLow(wanted) ? 0 : wanted, expected)
  }

  #isLow(wanted: number): boolean {
    return this.#plenty() < Math.abs(wanted)
  }

  /** How much the bucket can spare. */
  #plenty(): number {
    return Math.max(0, Math.floor((this.#known.remaining(this.#now()) - lastUnits) / plentyFactor))
  }

  /** The level of the whole bucket: that of the last exchange, without what was used since. */
  status(): BucketStatus {
    const now = this.#now()
    const bucket = TokenBucket.from(this.#known.state)
    bucket.charge(this.#correcting - this.#balance, now)
    return { limit: bucket.limit, remaining: bucket.remaining(now), resetMs: bucket.resetMs(now) }
  }
}

type Waiting = WaitingRequest & {
  readonly amount: number
  resolve(waitMs: number): void
}

/** The needs of one exchange. */
const maxNeeds = 1000
/** Until then, a request that the last exchange would have refused is refused without another one. */
const maxRefusalAgeMs = 50
/** A bucket has plenty if it has, beyond the last units, this many times as much as is wanted. */
const plentyFactor = 10
const lastUnits = 100
