import { Arrivals } from './arrivals.ts'
import type { SlotExchange, SlotGrant, SlotKind } from './lease-exchange.ts'
import { idleTicks, type PreparedExchange, rejectAll, type WaitingRequest } from './lease-rounds.ts'

/**
 * The slots of an organization that this process has taken from the store, and how many of them are used. With what its
 * requests need it takes a fixed quantum, and it returns those that were not used for some ticks.
 */
export class LeasedSlots {
  readonly kind: SlotKind
  readonly arrivals = new Arrivals()
  readonly #organization: string
  #limit: number
  #used = 0
  #held = 0
  /** How many the other processes had at the last exchange. */
  #others = 0
  /** The fewest that were unused in this period, which began so many ticks ago. */
  #unused = 0
  #ticks = 0
  #taken = false
  /** Unused ones that the next exchange returns. */
  #surplus = 0
  #waiting: Waiting[] = []
  /** The requests whose exchange is running. */
  #sent = 0
  /** Until then, on the clock of `performance.now()`, no exchange would find more free slots. */
  #pausedUntil = 0

  constructor(kind: SlotKind, organization: string, limit: number) {
    this.kind = kind
    this.#organization = organization
    this.#limit = limit
  }

  get limit(): number {
    return this.#limit
  }

  resize(limit: number): void {
    this.#limit = limit
  }

  /** Takes a slot if one is held and free. */
  tryTake(): boolean {
    this.arrivals.take()
    return this.#waiting.length === 0 && this.#takeHeld()
  }

  /** Whether this process alone uses as many as the limit allows. */
  isFull(): boolean {
    return this.#used >= this.#limit
  }

  /** Asks the store for a slot; resolves with false if none is free. */
  take(): Promise<boolean> {
    return new Promise((resolve, reject) =>
      this.#waiting.push({ attempts: 0, abandoned: false, resolve, reject }),
    )
  }

  /** Rejects those that wait for the next exchange. */
  abandon(error: Error): void {
    rejectAll(this.#waiting.splice(0), error)
  }

  release(): void {
    this.#used--
    while (this.#waiting.length > 0 && this.#takeHeld()) this.#waiting.shift()?.resolve(true)
    if (this.#isScarce()) this.#surplus = this.#free()
  }

  /** Whether an exchange should not wait for the next tick, to return slots of which few are free, or to have some ready. */
  isUrgent(): boolean {
    return this.#surplus > 0 || this.#isShort(this.#free())
  }

  /** Called at regular intervals; returns whether there is a reason for an exchange. */
  tick(): boolean {
    this.arrivals.tick()
    if (this.#isScarce()) this.#surplus = this.#free()
    else if (++this.#ticks >= idleTicks) this.#endPeriod()
    return this.#isRetryDue() || this.#used > this.#held || this.#surplus > 0
  }

  /** Whether none is held, used or waited for. */
  isIdle(): boolean {
    return this.#used === 0 && this.#held === 0 && this.#waiting.length === 0 && this.#sent === 0
  }

  /** The store has forgotten the slots of this process, because the others have removed it. */
  forget(): void {
    this.#held = 0
  }

  /** Returns the next exchange if there is a reason for one. Without `keep`, all unused slots are returned. */
  prepare(keep: boolean): PreparedExchange<SlotExchange, SlotGrant> | undefined {
    const sent = this.#isRetryDue() ? this.#waiting.splice(0) : []
    const before = this.#held
    const returned = keep ? Math.min(this.#surplus, this.#free()) : before
    this.#surplus = 0
    const used = this.#used + sent.length + (keep ? this.arrivals.count : 0)
    const needed = Math.max(used, before - Math.max(0, returned))
    const isLow = needed > before || this.#isShort(needed - used)
    const spare = keep && isLow && !this.#isScarce() ? Math.max(0, used + this.#quantum() - needed) : 0
    if (sent.length === 0 && needed === before && spare === 0) return undefined
    // What is returned may be granted to another process, and must not be used while the exchange runs.
    this.#held = Math.min(before, needed)
    this.#sent += sent.length
    const { kind, limit } = this
    return {
      exchange: { organization: this.#organization, kind, limit, needed, spare },
      receive: (grant) => this.#receive(grant, grant.held < needed, sent),
      fail: (error) => this.#fail(error, sent, before),
      abandon: (error) => rejectAll(sent, error),
    }
  }

  /** Without a refusal, what is missing was taken by requests that came while the exchange ran: the next one has it. */
  #receive({ held, others }: SlotGrant, refused: boolean, sent: readonly Waiting[]): void {
    this.#held = held
    this.#others = others
    this.#sent -= sent.length
    const unanswered: Waiting[] = []
    for (const waiting of sent) {
      if (waiting.abandoned) continue
      if (this.#takeHeld()) waiting.resolve(true)
      // A slot that another process has just released may be on its way, so there is a second attempt.
      else if (refused && (others === 0 || ++waiting.attempts >= maxAttempts)) waiting.resolve(false)
      else unanswered.push(waiting)
    }
    if (unanswered.length === 0) return
    this.#waiting.unshift(...unanswered)
    if (refused) this.#pausedUntil = performance.now() + retryIntervalMs
  }

  /** The store has as many as before the exchange. */
  #fail(error: Error, sent: readonly Waiting[], held: number): void {
    this.#held = held
    this.#sent -= sent.length
    for (const { reject } of sent) reject(error)
  }

  /** Whether an exchange for the waiting requests is to be made now. */
  #isRetryDue(): boolean {
    return this.#waiting.length > 0 && performance.now() >= this.#pausedUntil
  }

  #takeHeld(): boolean {
    if (this.#used >= Math.min(this.#held, this.#limit)) return false
    this.#used++
    this.#taken = true
    this.#unused = Math.min(this.#unused, this.#held - this.#used)
    return true
  }

  /** What was not used in the period is returned: all that is free if none was taken, else what exceeds the quantum. */
  #endPeriod(): void {
    this.#surplus = this.#taken ? Math.max(0, this.#unused - this.#quantum()) : this.#free()
    this.#unused = this.#free() - this.#surplus
    this.#taken = false
    this.#ticks = 0
  }

  /** The unused ones that no arriving request is about to take. */
  #free(): number {
    return this.#held - this.#used - this.arrivals.count
  }

  /** Whether slots are being taken and few are left without an exchange. */
  #isShort(free: number): boolean {
    return this.#taken && free < this.#quantum() / 2 && !this.#isScarce()
  }

  /** Whether slots are returned as soon as they are released: of a small limit, and while most of a larger one are taken. */
  #isScarce(): boolean {
    return this.#quantum() === 0 || this.#limit - this.#others - this.#held < this.#limit / scarcePart
  }

  #quantum(): number {
    return this.#limit < smallLimit ? 0 : Math.ceil(this.#limit / quantumPart)
  }
}

type Waiting = WaitingRequest & {
  /** How many exchanges had no slot for it. */
  attempts: number
  resolve(taken: boolean): void
}

/** The slots of a lower limit are never kept. */
const smallLimit = 50
const quantumPart = 100
/** Slots are scarce while fewer than this part of the limit are free. */
const scarcePart = 4
const maxAttempts = 2
const retryIntervalMs = 40
