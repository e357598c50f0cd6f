import { type AbortLike, abortReason, onAbort } from './abort.ts'
import { memoryExhausted } from './errors/errors.ts'
import { TransientMap } from './transient.ts'

/** Acquires bytes of a memory budget before they are read; throws or rejects if they do not fit. */
export type AcquireMemory = (bytes: number) => void | Promise<void>

/** Requests of one organization that wait for bytes at the same time. */
export const maxWaiting = 128
const defaultMaxWaitMs = 10_000

/** A request that waits for bytes, and tries to acquire them whenever some were released. */
type Waiter = { readonly tryAcquire: () => boolean; readonly admit: () => void }

/**
 * Limits the bytes that all requests in flight hold: bodies, conversations and pages. One organization can hold at most
 * half of them. A lease that is the only one of its organization, or of all, can exceed the limit: otherwise a large
 * request would never be served.
 */
export class MemoryBudget {
  readonly #maxBytes: () => number
  readonly #maxWaitMs: number
  readonly #byOrganization = new TransientMap<number>()
  /** The requests that wait, by organization. */
  readonly #lines = new TransientMap<Waiter[]>()
  #held = 0

  /** `maxBytes` is called each time because settings can change. */
  constructor(maxBytes: () => number = () => Number.POSITIVE_INFINITY, maxWaitMs: number = defaultMaxWaitMs) {
    this.#maxBytes = maxBytes
    this.#maxWaitMs = maxWaitMs
  }

  /** The bytes that are currently held. */
  get held(): number {
    return this.#held
  }

  /**
   * The most that is acquired for a reply in advance. It leaves its organization as much for bodies: those of requests
   * that wait behind it would otherwise keep it waiting.
   */
  get maxReplyBytes(): number {
    return this.#maxBytes() / 4
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

  /** Takes bytes that exist already, whether or not they fit. */
  take(organization: string, bytes: number): void {
    this.#change(organization, bytes)
  }

  /** Returns bytes of this organization to the budget. */
  release(organization: string, bytes: number): void {
    this.#change(organization, -bytes)
    if (this.#lines.size > 0) this.#admitWaiting()
  }

  /**
   * Waits until `tryAcquire` returns true: after all requests of the organization that wait already. Rejects with the 503
   * if they are too many or if it takes too long, and with the reason of the signal once that aborts.
   */
  async acquireInTurn(organization: string, tryAcquire: () => boolean, signal: AbortLike): Promise<void> {
    const line = this.#lines.get(organization) ?? []
    if (line.length === 0 && tryAcquire()) return
    if (line.length >= maxWaiting) throw memoryExhausted()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiter = { tryAcquire, admit: resolve }
    line.push(waiter)
    this.#lines.set(organization, line)
    const timer = setTimeout(() => reject(memoryExhausted()), this.#maxWaitMs)
    const forget = onAbort(signal, () => reject(abortReason(signal)))
    try {
      await promise
    } finally {
      clearTimeout(timer)
      forget()
      this.#leave(organization, waiter)
    }
  }

  #leave(organization: string, waiter: Waiter): void {
    const line = this.#lines.get(organization) ?? []
    const index = line.indexOf(waiter)
    if (index >= 0) line.splice(index, 1)
    if (line.length === 0) this.#lines.delete(organization)
    this.#admitWaiting()
  }

  #admitWaiting(): void {
    for (const line of this.#lines.values()) while (line[0]?.tryAcquire()) line.shift()?.admit()
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

  /**
   * Acquires room for a reply whose size is estimated, up to a quarter of the budget; waits for its turn if there is none.
   * `estimate` is called for each attempt. Resolves with the bytes; rejects as `MemoryBudget.acquireInTurn` does.
   */
  async acquireReply(estimate: () => number, signal: AbortLike): Promise<number> {
    let bytes = 0
    const tryAcquire = () => {
      bytes = Math.min(estimate(), this.#budget.maxReplyBytes)
      return this.tryAcquire(bytes)
    }
    await this.#budget.acquireInTurn(this.#organization, tryAcquire, signal)
    return bytes
  }

  /** Takes bytes that exist already, such as a reply that was paid for, whether or not they fit. */
  hold(bytes: number): void {
    if (this.#released) return
    this.#held += bytes
    this.#budget.take(this.#organization, bytes)
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
