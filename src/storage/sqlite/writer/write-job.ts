import { toOutage } from '../sqlite-errors.ts'
import type { Transaction } from './transaction.ts'

/** A work that waits for its transaction, and whoever waits for it. */
export type Job = {
  /** Throws only what ends the whole transaction. */
  run(transaction: Transaction, alone: boolean): void
  /** Whether it has to be on disk before it is settled; known once it has run. */
  lasts(): boolean
  settle(): void
  reject(error: Error): void
}

/** One that settles the promise which its caller was given. */
export class Write<T> implements Job {
  readonly #work: () => T
  readonly #lasting: (value: T) => boolean
  readonly #resolve: (value: T) => void
  readonly #reject: (error: unknown) => void
  #done: { readonly value: T } | { readonly error: unknown } | undefined

  constructor(
    work: () => T,
    lasting: (value: T) => boolean,
    resolve: (value: T) => void,
    reject: (error: unknown) => void,
  ) {
    this.#work = work
    this.#lasting = lasting
    this.#resolve = resolve
    this.#reject = reject
  }

  run(transaction: Transaction, alone: boolean): void {
    try {
      this.#done = { value: alone ? transaction.attemptAlone(this.#work) : transaction.attempt(this.#work) }
    } catch (error) {
      if (!transaction.intact()) throw error
      this.#done = { error: toOutage(error) }
    }
  }

  lasts(): boolean {
    return this.#done !== undefined && 'value' in this.#done && this.#lasting(this.#done.value)
  }

  settle(): void {
    if (this.#done === undefined) return
    if ('value' in this.#done) this.#resolve(this.#done.value)
    else this.#reject(this.#done.error)
  }

  reject(error: Error): void {
    this.#reject(error)
  }
}
