import type { SlotExchange, SlotGrant, SlotKind } from '../../../storage/ports/limit-leases.ts'
import type { PreparedExchange } from './exchange-rounds.ts'
import { Expected, type ExpectedPart } from './expected.ts'
import { Recent } from './recent.ts'
import { abandonAll, type WaitingRequest } from './waiting-request.ts'

/** The slots of an organization that this process has taken from the store, and how many of them are used. */
export class LeasedSlots {
  readonly kind: SlotKind
  readonly #organization: string
  readonly #peak = new Recent(Math.max)
  readonly #expected = new Expected()
  #limit: number
  #used = 0
  #held = 0
  /** How many the other processes had at the last exchange. */
  #others = 0
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
    if (this.#waiting.length > 0 || !this.#takeHeld()) return false
    this.#expected.taken()
    return true
  }

  /** Whether this process alone uses as many as the limit allows. */
  isFull(): boolean {
    return this.#used >= this.#limit
  }

  /** Asks the store for a slot; resolves with false if none is free. */
  take(): Promise<boolean> {
    this.#expected.taken()
    return new Promise((resolve, reject) =>
      this.#waiting.push({ looks: 0, abandoned: false, resolve, reject }),
    )
  }

  /** Rejects those that wait for the next exchange. */
  abandon(error: Error): void {
    abandonAll(this.#waiting.splice(0), error)
  }

  /** The next exchange asks for one more, which a request takes as soon as it is admitted. */
  expect(): ExpectedPart {
    return this.#expected.add(1)
  }

  release(): void {
    this.#used--
    while (this.#waiting.length > 0 && this.#takeHeld()) this.#waiting.shift()?.resolve(true)
  }

  /** Whether a slot that is not used any more must be returned at once, because few are free. */
  isUrgent(): boolean {
    return this.#held > this.#used && this.#isScarce()
  }

  /** Whether an exchange for the waiting requests is to be made now. */
  isLooking(): boolean {
    return this.#waiting.length > 0 && performance.now() >= this.#pausedUntil
  }

  /** Whether a round of exchanges has something to do for these slots. */
  isDue(): boolean {
    if (this.isLooking() || this.#used > this.#held) return true
    return this.#held - this.#used > 2 * (this.#wanted() - this.#used)
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
    const sent = this.isLooking() ? this.#waiting.splice(0) : []
    const used = this.#used + sent.length + (keep ? this.#expected.value : 0)
    const wanted = keep ? Math.max(used, this.#wanted()) : used
    if (sent.length === 0 && this.#held === wanted) return undefined
    // What is not needed may be granted to another process, and must not be used while the exchange runs.
    const before = this.#held
    const needed = this.#isScarce() ? used : Math.max(used, Math.min(this.#held, wanted))
    this.#held = Math.min(this.#held, needed)
    this.#sent += sent.length
    const { kind, limit } = this
    return {
      exchange: { organization: this.#organization, kind, limit, needed, spare: wanted - needed },
      receive: (grant) => this.#receive(grant, grant.held < needed, sent),
      fail: (error) => this.#fail(error, sent, before),
      abandon: (error) => abandonAll(sent, error),
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
      // A slot that another process has just released may be on its way, so there is a second look.
      else if (refused && (others === 0 || ++waiting.looks >= maxLooks)) waiting.resolve(false)
      else unanswered.push(waiting)
    }
    if (unanswered.length === 0) return
    this.#waiting.unshift(...unanswered)
    if (refused) this.#pausedUntil = performance.now() + lookIntervalMs
  }

  /** The store has as many as before the exchange. */
  #fail(error: Error, sent: readonly Waiting[], held: number): void {
    this.#held = held
    this.#sent -= sent.length
    for (const { reject } of sent) reject(error)
  }

  #takeHeld(): boolean {
    if (this.#used >= Math.min(this.#held, this.#limit)) return false
    this.#used++
    this.#peak.add(this.#used)
    return true
  }

  #isScarce(): boolean {
    return this.#limit - this.#others - this.#used < plentySlots
  }

  /** The most that were used lately, and a quarter more; or those that are about to be used. */
  #wanted(): number {
    return Math.max(this.#used + this.#expected.value, Math.ceil(this.#peak.value * 1.25))
  }
}

type Waiting = WaitingRequest & {
  /** How many exchanges had no slot for it. */
  looks: number
  resolve(taken: boolean): void
}

const maxLooks = 2
const lookIntervalMs = 40
/** Fewer free slots are not kept for later. */
const plentySlots = 30
