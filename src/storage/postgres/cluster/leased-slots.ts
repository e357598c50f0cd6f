import type { SlotRenewal, SlotGrant, SlotKind } from './lease-renewal.ts'
import { idleTicks, Lease, type RunningRenewal, type WaitingRequest } from './lease.ts'

/**
 * The slots that this process has taken, and how many of them are used. With what its requests need it takes a fixed
 * quantum, and it returns those that were not used for some ticks. A request is answered with whether it has a slot.
 */
export class LeasedSlots extends Lease<SlotRenewal, SlotGrant, boolean> {
  readonly #kind: SlotKind
  readonly #organization: string
  #limit: number
  #used = 0
  #held = 0
  /** How many the other processes had at the last renewal. */
  #others = 0
  /** Whether any was taken in this period, which began so many ticks ago, and the fewest that were unused. */
  #taken = false
  #ticks = 0
  #unused = 0
  /** Unused ones that the next renewal returns. */
  #surplus = 0
  #heldBefore = 0
  /** Until then, on the clock of `performance.now()`, no renewal would find more free slots. */
  #pausedUntil = 0

  constructor(kind: SlotKind, organization: string, limit: number) {
    super()
    this.#kind = kind
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
    return this.waiting.length === 0 && this.#takeHeld()
  }

  /** Whether this process alone uses as many as the limit allows. */
  isFull(): boolean {
    return this.#used >= this.#limit
  }

  release(): void {
    this.#used--
    while (this.waiting.length > 0 && this.#takeHeld()) this.waiting.shift()?.resolve(true)
    if (this.#isScarce()) this.#surplus = this.#free()
  }

  /** The database has forgotten the slots of this process, because the others have removed it. */
  forget(): void {
    this.#held = 0
  }

  override isIdle(): boolean {
    return super.isIdle() && this.#used === 0 && this.#held === 0
  }

  isDue(keep: boolean): boolean {
    if (!keep && this.#held !== this.#used) return true
    return this.#isRetryDue() || this.#free() < 0 || this.isUrgent()
  }

  /** Slots of which few are free are returned, and some are taken before all are used. */
  isUrgent(): boolean {
    return this.#surplus > 0 || this.#isShort(this.#free())
  }

  protected age(): void {
    if (this.#isScarce()) this.#surplus = this.#free()
    else if (++this.#ticks >= idleTicks) this.#endPeriod()
  }

  protected prepare(keep: boolean): RunningRenewal<SlotRenewal, boolean> {
    const sent = this.#isRetryDue() ? this.waiting.splice(0) : []
    const used = this.#used + sent.length + (keep ? this.arrivals.count : 0)
    const returned = keep ? Math.max(0, Math.min(this.#surplus, this.#free())) : this.#held
    const needed = Math.max(used, this.#held - returned)
    const isShort = needed > this.#held || this.#isShort(needed - used)
    const spare = keep && isShort && !this.#isScarce() ? Math.max(0, used + this.#quantum() - needed) : 0
    this.#surplus = 0
    // What is returned may be granted to another process, and must not be used while the renewal runs.
    this.#heldBefore = this.#held
    this.#held = Math.min(this.#held, needed)
    const [organization, kind, limit] = [this.#organization, this.#kind, this.#limit]
    return { renewal: { organization, kind, limit, needed, spare }, sent }
  }

  /** Without a refusal, what is missing was taken by requests that came while the renewal ran: the next one has it. */
  protected apply(
    { held, others }: SlotGrant,
    { renewal, sent }: RunningRenewal<SlotRenewal, boolean>,
  ): void {
    const refused = held < renewal.needed
    this.#held = held
    this.#others = others
    const unanswered: WaitingRequest<boolean>[] = []
    for (const request of sent) {
      if (request.abandoned) continue
      if (this.#takeHeld()) request.resolve(true)
      // A slot that another process has just released may be on its way, so there is a second attempt.
      else if (refused && (others === 0 || ++request.attempts >= maxAttempts)) request.resolve(false)
      else unanswered.push(request)
    }
    this.waiting.unshift(...unanswered)
    if (refused && unanswered.length > 0) this.#pausedUntil = performance.now() + retryIntervalMs
  }

  /** The database has as many as before the renewal. */
  protected revert(): void {
    this.#held = this.#heldBefore
  }

  /** Whether a renewal for the waiting requests is to be made now. */
  #isRetryDue(): boolean {
    return this.waiting.length > 0 && performance.now() >= this.#pausedUntil
  }

  #takeHeld(): boolean {
    if (this.#used >= Math.min(this.#held, this.#limit)) return false
    this.#used++
    this.#taken = true
    this.#unused = Math.min(this.#unused, this.#held - this.#used)
    return true
  }

  /** Slots that were not used in the period are returned: all free ones if none was taken, else those beyond the quantum. */
  #endPeriod(): void {
    this.#surplus = this.#taken ? Math.max(0, this.#unused - this.#quantum()) : this.#free()
    this.#unused = this.#free() - this.#surplus
    this.#taken = false
    this.#ticks = 0
  }

  /** The unused ones that no arriving request is about to take; negative for missing ones. */
  #free(): number {
    return this.#held - this.#used - this.arrivals.count
  }

  /** Whether slots are being taken and few are left without a renewal. */
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

/** The slots of a lower limit are never kept. */
const smallLimit = 50
const quantumPart = 100
/** Slots are scarce while fewer than this part of the limit are free. */
const scarcePart = 4
const maxAttempts = 2
const retryIntervalMs = 40
