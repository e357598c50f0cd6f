import type { Database as Sqlite, Statement } from 'bun:sqlite'

/** Of the transactions since the start: how many are committed, the time that they took, and how many were undone. */
export type Tally = { commits: number; seconds: number; failed: number }

/** A transaction that writes, one after the other, and works in it of which each can be undone alone. */
export class Transaction {
  readonly tally: Tally = { commits: 0, seconds: 0, failed: 0 }
  readonly #sqlite: Sqlite
  readonly #begin: Statement
  readonly #commit: Statement
  readonly #savepoint: Statement
  readonly #release: Statement
  #begunAt = 0
  /** Its only work has failed, and nothing is left of it that could be committed. */
  #undone = false

  constructor(sqlite: Sqlite) {
    this.#sqlite = sqlite
    this.#begin = sqlite.prepare('BEGIN IMMEDIATE')
    this.#commit = sqlite.prepare('COMMIT')
    this.#savepoint = sqlite.prepare('SAVEPOINT work')
    this.#release = sqlite.prepare('RELEASE work')
  }

  begin(): void {
    this.#undone = false
    this.#begunAt = performance.now()
    this.#begin.run()
  }

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

  /** The same for the only work of the transaction, which needs no savepoint. */
  attemptAlone<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      this.#undone = this.#sqlite.inTransaction
      if (this.#undone) this.#sqlite.run('ROLLBACK')
      throw error
    }
  }

  /** False where SQLite has undone all of it: a full disk, among others, does not only undo the statement. */
  intact(): boolean {
    return this.#undone || this.#sqlite.inTransaction
  }

  commit(): void {
    if (this.#undone) return
    this.#commit.run()
    this.tally.commits++
    this.tally.seconds += (performance.now() - this.#begunAt) / 1000
  }

  abandon(): void {
    this.tally.failed++
    if (this.#sqlite.inTransaction) this.#sqlite.run('ROLLBACK')
  }
}
