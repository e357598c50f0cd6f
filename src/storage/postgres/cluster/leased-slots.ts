import { Lease, type WaitingRequest } from './lease.ts'
import type { LeaseGrant, LeaseKey, SlotKind, SlotRenewal } from './lease-renewal.ts'

/** A lower limit is exact, and so is a higher one of which less than a quarter is free. */
const smallLimit = 50
const scarcePart = 4
/** A quantum is a hundredth of the limit. */
const quantumPart = 100

/** The lease of slots, which requests give back later. */
export class LeasedSlots extends Lease {
  limit: number
  readonly #key: LeaseKey<SlotKind>
  #used = 0
  /** How many all processes had after the last renewal. */
  #spent = 0

  constructor(key: LeaseKey<SlotKind>, limit: number) {
    super()
    this.#key = key
    this.limit = limit
  }

  begin(): SlotRenewal {
    const { needs, ahead } = this.prepare()
    return { ...this.#key, limit: this.limit, held: this.#used + this.balance, needs, ahead }
  }

  override receive(grant: LeaseGrant): void {
    this.#spent = grant.spent
    super.receive(grant)
  }

  override forget(): void {
    this.balance = -this.#used
  }

  override isIdle(): boolean {
    return super.isIdle() && this.#used === 0
  }

  protected override spend(amount: number): void {
    super.spend(amount)
    this.#used += amount
  }

  protected get quantum(): number {
    const isExact = this.limit < smallLimit || this.limit - this.#spent < this.limit / scarcePart
    return isExact ? 0 : Math.ceil(this.limit / quantumPart)
  }

  /** Whether this process alone uses as many as the limit allows. */
  protected override isFull(): boolean {
    return this.#used >= this.limit
  }

  protected amountOf(arriving: number): number {
    return arriving
  }

  protected rejectionOf(): number | undefined {
    return this.isFull() ? 1 : undefined
  }

  /** A slot that another process has just released may be on its way, so the request is sent once more. */
  protected refuse(request: WaitingRequest): void {
    if (request.isRejected || this.isFull()) return request.resolve(1)
    request.isRejected = true
    this.isPaused = true
    this.waiting.push(request)
  }
}
