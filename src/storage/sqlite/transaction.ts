import type { Database as Sqlite, Statement } from 'bun:sqlite'
import { isBusy, toOutage } from './sqlite-errors.ts'

/** A piece of work that waits for its transaction, whatever its value is. */
export type Job = Pick<Write<unknown>, keyof Write<unknown>>

/** A job that settles the promise of its caller. */
export class Write<T> {
  /** Whether it reads and changes balances and budgets only with those of the transaction. */
  readonly usesAmounts: boolean
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
    usesAmounts: boolean,
  ) {
    this.usesAmounts = usesAmounts
    this.#work = work
    this.#durable = durable
    this.#resolve = resolve
    this.#reject = reject
  }

  /** Throws only if the whole transaction has failed. */
  run(transaction: Transaction, alone: boolean): void {
    try {
      this.#result = { value: alone ? transaction.attemptAlone(this.#work) : transaction.attempt(this.#work) }
    } catch (error) {
      if (!transaction.isIntact()) throw error
      this.#result = { error: toOutage(error) }
    }
  }

  /** Whether it must be on disk before it is settled; known after `run`. */
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

/** The transactions since the start: committed ones, the seconds that they took, and those that were rolled back. */
type TransactionStats = { commits: number; seconds: number; failed: number }

/** Runs write transactions one after the other. Each piece of work in a transaction can be rolled back alone. */
export class Transaction {
  readonly stats: TransactionStats = { commits: 0, seconds: 0, failed: 0 }
  readonly #sqlite: Sqlite
  readonly #begin: Statement
  readonly #commit: Statement
  readonly #savepoint: Statement
  readonly #release: Statement
  #startedAt = 0
  /** The only work of the transaction has failed and was rolled back, so there is nothing to commit. */
  #rolledBack = false

  constructor(sqlite: Sqlite) {
    this.#sqlite = sqlite
    this.#begin = sqlite.prepare('BEGIN IMMEDIATE')
    this.#commit = sqlite.prepare('COMMIT')
    this.#savepoint = sqlite.prepare('SAVEPOINT work')
    this.#release = sqlite.prepare('RELEASE work')
  }

  begin(): void {
    this.#rolledBack = false
    this.#startedAt = performance.now()
    this.#begin.run()
  }

  /** Runs one of several pieces of work; if it throws, only its own changes are rolled back. */
  attempt<T>(work: () => T): T {
    this.#savepoint.run()
    try {
      return work()
    } catch (error) {
      if (this.#sqlite.inTransaction) this.#sqlite.run('ROLLBACK TO work')
      throw error
    } finally {
      if (this.#sqlite.inTransaction) this.#release.run()
    }
  }

  /** Runs the only work of the transaction, which needs no savepoint. */
  attemptAlone<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      this.#rolledBack = this.#sqlite.inTransaction
      if (this.#rolledBack) this.#sqlite.run('ROLLBACK')
      throw error
    }
  }

  /** False if SQLite rolled back the whole transaction, as it does for a full disk, and not only the statement. */
  isIntact(): boolean {
    return this.#rolledBack || this.#sqlite.inTransaction
  }

  commit(): void {
    if (this.#rolledBack) return
    this.#commit.run()
    this.stats.commits++
    this.stats.seconds += (performance.now() - this.#startedAt) / 1000
  }

  /** Rolls back the whole transaction. */
  rollback(): void {
    this.stats.failed++
    if (this.#sqlite.inTransaction) this.#sqlite.run('ROLLBACK')
  }
}

/**
 * Returns a function that takes the result of each attempt to begin, and returns whether to retry: up to the timeout while
 * another process holds the lock. The retries are timers, because SQLite's own wait would block every request.
 */
export function createLockWait(lockTimeoutMs: number): (failure: unknown) => boolean {
  let lockedSince: number | undefined
  return (failure) => {
    const now = performance.now()
    lockedSince = isBusy(failure) ? (lockedSince ?? now) : undefined
    if (lockedSince === undefined) return false
    if (now - lockedSince < lockTimeoutMs) return true
    lockedSince = undefined
    return false
  }
}
