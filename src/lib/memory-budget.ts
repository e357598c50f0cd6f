import { memoryExhausted } from './errors/errors.ts'

/** Asks for so many bytes before they are read; throws or rejects where they are not to be had. */
export type Hold = (bytes: number) => void | Promise<void>

/**
 * The bytes that requests in flight hold together: bodies, conversations and pages. One organization holds at most half of
 * them. A lease that is the only one of its organization, or of all, may exceed the bound: nothing waits forever.
 */
export class MemoryBudget {
  readonly #maxBytes: () => number
  readonly #byOrganization = new Map<string, number>()
  #held = 0

  /** `maxBytes` is asked each time: settings change. */
  constructor(maxBytes: () => number = () => Number.POSITIVE_INFINITY) {
    this.#maxBytes = maxBytes
  }

  /** How many bytes are held at the moment. */
  get held(): number {
    return this.#held
  }

  /** A lease of this organization that holds nothing yet. */
  lease(organization: string): MemoryLease {
    return new MemoryLease(this, organization)
  }

  /** For a lease that holds `own` bytes: whether so many more fit, which then are taken. */
  take(organization: string, own: number, bytes: number): boolean {
    const shared = this.#byOrganization.get(organization) ?? 0
    const max = this.#maxBytes()
    const fits = this.#held === own || this.#held + bytes <= max
    const fair = shared === own || shared + bytes <= max / 2
    if (!fits || !fair) return false
    this.#change(organization, bytes)
    return true
  }

  giveBack(organization: string, bytes: number): void {
    this.#change(organization, -bytes)
  }

  #change(organization: string, bytes: number): void {
    this.#held += bytes
    const shared = (this.#byOrganization.get(organization) ?? 0) + bytes
    if (shared === 0) this.#byOrganization.delete(organization)
    else this.#byOrganization.set(organization, shared)
  }
}

/** What one request, or one background run, holds of the budget until it is released. */
export class MemoryLease {
  readonly #budget: MemoryBudget
  readonly #organization: string
  #held = 0
  #released = false

  constructor(budget: MemoryBudget, organization: string) {
    this.#budget = budget
    this.#organization = organization
  }

  get held(): number {
    return this.#held
  }

  /** Takes what it holds less than so many bytes, or throws the 503. */
  readonly holdAtLeast = (bytes: number): void => {
    this.take(Math.max(0, bytes - this.#held))
  }

  /** Takes so many bytes; false where they do not fit, or where the lease was released. */
  tryTake(bytes: number): boolean {
    if (this.#released || !this.#budget.take(this.#organization, this.#held, bytes)) return false
    this.#held += bytes
    return true
  }

  /** Takes so many bytes, or throws the 503. */
  readonly take = (bytes: number): void => {
    if (!this.tryTake(bytes)) throw memoryExhausted()
  }

  /** Gives so many bytes back, at most those that it holds. */
  giveBack(bytes: number): void {
    const given = Math.min(bytes, this.#held)
    this.#held -= given
    this.#budget.giveBack(this.#organization, given)
  }

  /** Gives everything back. From then on it takes nothing; releasing again does nothing. */
  readonly release = (): void => {
    this.#released = true
    this.giveBack(this.#held)
  }
}
