import type { Organization } from '../../storage/organization.ts'
import type { Allowance, Standing } from './allowance.ts'

/** A request that was let in. */
export type Admission = {
  /** Takes a place among the open calls, and about so many tokens, or throws the 429. */
  open(tokens: number): OpenCall
  /** Takes about so many tokens for a call that is to be made later, or throws the 429. */
  queue(tokens: number): QueuedCall
  /** The request is in the books already, without a call. */
  enter(): void
  /** Whether it has: from then on the call is in the books, however it ends. */
  opened(): boolean
  /** How the organization stands now. */
  standing(): Standing
}

/** A call that has its tokens, and waits for its place. */
export type QueuedCall = {
  /** Takes a place among the open calls; undefined while the organization has none that is free. */
  start(): OpenCall | undefined
  /** Gives the tokens back: the call will not be made. */
  drop(): void
}

/** A call that takes a place until it is closed. */
export type OpenCall = {
  /** Frees the place and corrects the tokens to those that were used. Closing again does nothing. */
  close(tokens: number): void
}

/** Those of all organizations. `now` is milliseconds of their steady clock. */
export type Allowances = {
  of(organization: Organization): Allowance
  now(): number
  size(): number
}

/** Looks the allowance up each time: while a body was read, it may have been idle, and forgotten. */
export class RequestAdmission implements Admission {
  readonly #organization: Organization
  readonly #allowances: Allowances
  #opened = false

  constructor(organization: Organization, allowances: Allowances) {
    this.#organization = organization
    this.#allowances = allowances
  }

  open(tokens: number): OpenCall {
    const allowance = this.#allowances.of(this.#organization)
    allowance.openCall(tokens, this.#allowances.now())
    this.#opened = true
    return new TakenPlace(allowance, this.#allowances.now, tokens)
  }

  queue(tokens: number): QueuedCall {
    this.#allowances.of(this.#organization).takeTokens(tokens, this.#allowances.now())
    this.#opened = true
    return new TakenTokens(this.#organization, this.#allowances, tokens)
  }

  enter(): void {
    this.#opened = true
  }

  opened(): boolean {
    return this.#opened
  }

  standing(): Standing {
    return this.#allowances.of(this.#organization).standing(this.#allowances.now())
  }
}

/** The tokens of a call that is to be made later. */
export class TakenTokens implements QueuedCall {
  readonly #organization: Organization
  readonly #allowances: Allowances
  readonly #tokens: number

  constructor(organization: Organization, allowances: Allowances, tokens: number) {
    this.#organization = organization
    this.#allowances = allowances
    this.#tokens = tokens
  }

  start(): OpenCall | undefined {
    const allowance = this.#allowances.of(this.#organization)
    return allowance.takePlace() ? new TakenPlace(allowance, this.#allowances.now, this.#tokens) : undefined
  }

  drop(): void {
    this.#allowances.of(this.#organization).giveBackTokens(this.#tokens, this.#allowances.now())
  }
}

class TakenPlace implements OpenCall {
  readonly #allowance: Allowance
  readonly #clock: () => number
  readonly #tokens: number
  #closed = false

  constructor(allowance: Allowance, clock: () => number, tokens: number) {
    this.#allowance = allowance
    this.#clock = clock
    this.#tokens = tokens
  }

  close(used: number): void {
    if (this.#closed) return
    this.#closed = true
    this.#allowance.closeCall(this.#tokens, used, this.#clock())
  }
}
