import { toOutage } from '../sqlite-errors.ts'
import type { Transaction } from './transaction.ts'

/** A piece of work that waits for its transaction. */
export type Job = {
  /** Throws only if the whole transaction has failed. */
  run(transaction: Transaction, alone: boolean): void
  /** Whether it must be on disk before it is settled; known after `run`. */
  isDurable(): boolean
  settle(): void
  reject(error: Error): void
}

/** A job that settles the promise of its caller. */
export class Write<T> implements Job {
  readonly #work: () => T
  readonly #durable: (value: T) => boolean
  readonly #resolve: (value: T) => void
  readonly #reject: (error: unknown) => void
  #result: { readonly value: T } | { readonly error: unknown } | undefined

  constructor(
    work: () => T,
    durable: (value: T) => boolean,
    resolve: (value: T) => void,
    reject: (error: unknown) => void,
  ) {
    this.#work = work
    this.#durable = durable
    this.#resolve = resolve
    this.#reject = reject
  }

  run(transaction: Transaction, alone: boolean): void {
    try {
      this.#result = { value: alone ? transaction.attemptAlone(this.#work) : transaction.attempt(this.#work) }
    } catch (error) {
      if (!transaction.isIntact()) throw error
      this.#result = { error: toOutage(error) }
    }
  }

  isDurable(): boolean {
    return this.#result !== undefined && 'value' in this.#result && this.#durable(this.#result.value)
  }

  settle(): void {
    if (this.#result === undefined) return
    if ('value' in this.#result) this.#resolve(this.#result.value)
    else this.#reject(this.#result.error)
  }

  reject(error: Error): void {
    this.#reject(error)
  }
}
