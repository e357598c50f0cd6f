import type { LeaseGrant, LeaseRenewal, LeaseDemand } from './lease-renewal.ts'

/** A request that waits for a renewal. */
export type WaitingRequest = {
  readonly amount: number
  /** Whether a renewal has had nothing for it. */
  isRejected: boolean
  /** Whether it was rejected before the answer. */
  isAbandoned: boolean
  /** With 0, or the milliseconds until it can be repeated. */
  resolve(waitMs: number): void
  reject(error: unknown): void
}

/** What was not needed for so many ticks is returned. */
const periodTicks = 4

/**
 * The part of a limit that this process has leased and that its requests have not used. While they use it, the lease is
 * refilled to a fixed quantum when half of that is used, at most once between two ticks; a request that needs more than is
 * left asks the database at once. What was not needed for some ticks is returned. A limit without a quantum is exact: each
 * request asks the database for what it needs, and what is given back is returned at once.
 */
export abstract class Lease {
  readonly arrivals = new Arrivals()
  /** The amount that can be taken without a renewal; negative if more was used. */
  protected balance = 0
  protected waiting: WaitingRequest[] = []
  /** The renewal that runs, and the requests that it answers. */
  protected running: { readonly correction: number; readonly sent: readonly WaitingRequest[] } | undefined
  /** Whether the last renewal was since the last tick. */
  protected isFresh = false
  /** Whether the waiting requests wait for the next tick, because the last renewal has had nothing for them. */
  protected isPaused = false
  /** Whether something was taken in this period, which began so many ticks ago, and the least that was left. */
  #isUsed = false
  #ticks = 0
  #least = 0
  /** What was not needed in the last period, until it is returned. */
  #surplus = 0
  #isRetired = false

  /** The whole limit, which the processes share. */
  abstract readonly limit: number
  /** How much is leased for requests to come. */
  protected abstract readonly quantum: number
  /** The amount that so many arriving requests are about to take. */
  protected abstract amountOf(arriving: number): number
  /** The milliseconds to wait if it is known that the amount is not there. */
  protected abstract rejectionOf(amount: number): number | undefined
  /** Answers a request for which a renewal has had nothing, or leaves it to the next one. */
  protected abstract refuse(request: WaitingRequest): void

  /** Takes the amount and returns 0, or returns the milliseconds to wait; undefined if the database has to be asked. */
  take(amount: number): number | undefined {
    this.#isUsed = true
    this.arrivals.take()
    if (this.isFull() || amount > this.balance) return this.rejectionOf(amount)
    this.spend(amount)
    return 0
  }

  /** Asks the database for the amount, with the next renewal. */
  ask(amount: number): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    this.waiting.push({ amount, isRejected: false, isAbandoned: false, resolve, reject })
    return promise
  }

  /** Rejects the requests that wait: what the running renewal grants them is returned. */
  abandon(error: unknown): void {
    for (const request of [...this.waiting.splice(0), ...(this.running?.sent ?? [])]) {
      request.isAbandoned = true
      request.reject(error)
    }
  }

  /** Takes the amount even if it is not there; a negative amount is given back. */
  charge(amount: number): void {
    this.spend(amount)
    this.#serveWaiting()
  }

  /** Called at regular intervals. */
  tick(): void {
    this.arrivals.tick()
    this.isFresh = false
    this.isPaused = false
    if (++this.#ticks === periodTicks) this.#endPeriod()
  }

  /** Nothing will be taken any more: everything is returned. */
  retire(): void {
    this.#isRetired = true
  }

  /** Whether there is a reason for a renewal. */
  isDue(): boolean {
    return this.#isAsking || this.balance < 0 || this.#isShort || this.#unneeded > 0
  }

  /** Whether the renewal must not wait for the next tick. */
  isUrgent(): boolean {
    return this.quantum === 0 ? this.isDue() : this.#isShort && !this.isFresh && this.running === undefined
  }

  /** Whether nothing is held, owed or waited for. */
  isIdle(): boolean {
    return this.balance === 0 && this.waiting.length === 0 && this.running === undefined
  }

  /** Begins a renewal, which `receive` or `fail` ends. */
  abstract begin(): LeaseRenewal

  protected prepare(): LeaseDemand & { readonly correction: number } {
    const sent = this.#isAsking ? this.waiting.splice(0) : []
    // A request that needs more than is held is granted it together with what is left in the database.
    const kept = sent.length > 0 ? 0 : Math.max(0, this.balance - this.#unneeded)
    const correction = kept - this.balance
    this.balance = kept
    this.#surplus = 0
    this.running = { correction, sent }
    return { needs: sent.map(({ amount }) => amount), ahead: Math.max(0, this.#wanted - kept), correction }
  }

  receive({ granted, ahead }: LeaseGrant): void {
    const { sent = [] } = this.running ?? {}
    const later = this.waiting.splice(0)
    this.running = undefined
    this.isFresh = true
    this.balance += ahead
    for (const [index, request] of sent.entries()) this.#answer(request, granted[index] === true)
    this.waiting.push(...later)
    this.#serveWaiting()
  }

  /** Nothing was renewed. */
  fail(error: unknown): void {
    const { correction = 0, sent = [] } = this.running ?? {}
    this.running = undefined
    this.balance -= correction
    for (const { reject } of sent) reject(error)
  }

  /** The others have evicted this process, and what it held is free. */
  forget(): void {}

  /** Whether nothing can be taken, whatever is held. */
  protected isFull(): boolean {
    return false
  }

  protected spend(amount: number): void {
    this.balance -= amount
    this.#least = Math.min(this.#least, this.balance)
  }

  /** The quantum is kept for another period if something was taken in this one. */
  #endPeriod(): void {
    const kept = this.#isUsed ? this.quantum : 0
    this.#surplus = Math.max(0, Math.min(this.#least, this.balance) - kept)
    this.#least = this.balance - this.#surplus
    this.#isUsed = false
    this.#ticks = 0
  }

  #answer(request: WaitingRequest, isGranted: boolean): void {
    const { amount, isAbandoned } = request
    // A bucket is in debt for one minute at most.
    if (isGranted) this.balance += isAbandoned ? Math.min(amount, 2 * this.limit) : amount
    if (isAbandoned) return
    if ((isGranted || amount <= this.balance) && !this.isFull()) this.#serve(request)
    else this.refuse(request)
  }

  #serve({ amount, resolve }: WaitingRequest): void {
    this.spend(amount)
    resolve(0)
  }

  /** A request that came while a renewal ran needs no other one if there is enough for it. */
  #serveWaiting(): void {
    for (let first = this.waiting[0]; first && first.amount <= this.balance; first = this.waiting[0]) {
      if (this.isFull()) return
      this.waiting.shift()
      this.#serve(first)
    }
  }

  get #isAsking(): boolean {
    return this.waiting.length > 0 && !this.isPaused
  }

  get #isShort(): boolean {
    return this.balance < this.#wanted / 2
  }

  /** How much to hold: the quantum while the lease is in use, or what arriving requests need. */
  get #wanted(): number {
    if (this.#isRetired) return 0
    return Math.max(this.#isUsed ? this.quantum : 0, this.amountOf(this.arrivals.count))
  }

  /** How much to return: of an exact limit, everything that is not wanted. */
  get #unneeded(): number {
    const beyond = Math.max(0, this.balance - this.#wanted)
    return this.quantum === 0 || this.#isRetired ? beyond : Math.min(beyond, this.#surplus)
  }
}

/**
 * Requests that are about to take their part of a lease, which the renewal that admits them leases as well. It is kept for
 * them for one or two ticks.
 */
class Arrivals {
  #pending = 0
  #recent = 0
  #earlier = 0

  get count(): number {
    return this.#pending + this.#recent + this.#earlier
  }

  /** A request waits for its admission. */
  add(): void {
    this.#pending++
  }

  /** The request is admitted and about to take its part, or it is rejected. */
  settle(admitted: boolean): void {
    this.#pending--
    if (admitted) this.#recent++
  }

  /** A request takes its part. */
  take(): void {
    if (this.#earlier > 0) this.#earlier--
    else if (this.#recent > 0) this.#recent--
  }

  tick(): void {
    this.#earlier = this.#recent
    this.#recent = 0
  }
}
