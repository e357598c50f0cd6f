import { toOutage } from './outage.ts'
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

export function createJob<T>(
  work: () => T,
  lasting: (value: T) => boolean,
  resolve: (value: T) => void,
  reject: (error: unknown) => void,
): Job {
  let settle = () => {}
  let lasts = false
  function run(transaction: Transaction, alone: boolean): void {
    try {
      const value = alone ? transaction.attemptAlone(work) : transaction.attempt(work)
      lasts = lasting(value)
      settle = () => resolve(value)
    } catch (error) {
      if (!transaction.intact()) throw error
      settle = () => reject(toOutage(error))
    }
  }
  return { run, lasts: () => lasts, settle: () => settle(), reject }
}
