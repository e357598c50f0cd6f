import { memoryExhausted } from './errors/errors.ts'
import { TransientMap } from './transient.ts'

/** Acquires bytes of a memory budget before they are read; throws or rejects if they do not fit. */
export type AcquireMemory = (bytes: number) => void | Promise<void>

/**
 * Limits the bytes that all requests in flight hold: bodies, conversations and pages. One organization can hold at most
 * half of them. A lease that is the only one of its organization, or of all, can exceed the limit: otherwise a large
 * request would never be served.
 */
export class MemoryBudget {
  readonly #maxBytes: () => number
  readonly #byOrganization = new TransientMap<number>()
  #held = 0

  /** `maxBytes` is called each time because settings can change. */
  constructor(maxBytes: () => number = () => Number.POSITIVE_INFINITY) {
    this.#maxBytes = maxBytes
  }

  /** The bytes that are currently held. */
  get held(): number {
    return this.#held
  }

  /** Creates an empty lease for this organization. */
  lease(organization: string): MemoryLease {
    return new MemoryLease(this, organization)
  }

  /** Acquires bytes for a lease that already holds `leaseHeld`; returns false if they do not fit. */
  tryAcquire(organization: string, leaseHeld: number, bytes: number): boolean {
    const organizationHeld = this.#byOrganization.get(organization) ?? 0
    const max = this.#maxBytes()
    const fits = this.#held === leaseHeld || this.#held + bytes <= max
    const fair = organizationHeld === leaseHeld || organizationHeld + bytes <= max / 2
    if (!fits || !fair) return false
    this.#change(organization, bytes)
    return true
  }

  /** Returns bytes of this organization to the budget. */
  release(organization: string, bytes: number): void {
    this.#change(organization, -bytes)
  }

  #change(organization: string, bytes: number): void {
    this.#held += bytes
    const organizationHeld = (this.#byOrganization.get(organization) ?? 0) + bytes
    if (organizationHeld === 0) this.#byOrganization.delete(organization)
    else this.#byOrganization.set(organization, organizationHeld)
  }
}

/** The share of the budget that one request or background run holds until it is released. */
export class MemoryLease {
  readonly #budget: MemoryBudget
  readonly #organization: string
  #held = 0
  #holders = 1
  #released = false

  constructor(budget: MemoryBudget, organization: string) {
    this.#budget = budget
    this.#organization = organization
  }

  /** The bytes that the lease holds. */
  get held(): number {
    return this.#held
  }

  /** Acquires what the lease lacks to hold this many bytes; throws a 503 if it does not fit. */
  readonly acquireUpTo = (bytes: number): void => {
    this.acquire(Math.max(0, bytes - this.#held))
  }

  /** Acquires bytes; returns false if they do not fit or the lease was released. */
  tryAcquire(bytes: number): boolean {
    if (this.#released || !this.#budget.tryAcquire(this.#organization, this.#held, bytes)) return false
    this.#held += bytes
    return true
  }

  /** Acquires bytes; throws a 503 if they do not fit. */
  readonly acquire = (bytes: number): void => {
    if (!this.tryAcquire(bytes)) throw memoryExhausted()
  }

  /** Releases bytes, at most those that the lease holds. */
  releaseBytes(bytes: number): void {
    const released = Math.min(bytes, this.#held)
    this.#held -= released
    this.#budget.release(this.#organization, released)
  }

  /** Adds a holder: the bytes stay until each holder has released them. */
  retain(): void {
    this.#holders += 1
  }

  /**
   * Releases all bytes, unless another holder remains. The lease cannot acquire any afterwards; releasing again does
   * nothing.
   */
  readonly release = (): void => {
    this.#holders -= 1
    if (this.#holders > 0) return
    this.#released = true
    this.releaseBytes(this.#held)
  }
}
