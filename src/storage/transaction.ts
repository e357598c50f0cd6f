import type { Database as Sqlite } from 'bun:sqlite'

/** A transaction that writes, and works in it of which each can be undone alone. */
export type Transaction = ReturnType<typeof prepareTransaction>

export function prepareTransaction(sqlite: Sqlite) {
  const [begin, commit, savepoint, release] = [
    sqlite.prepare('BEGIN IMMEDIATE'),
    sqlite.prepare('COMMIT'),
    sqlite.prepare('SAVEPOINT work'),
    sqlite.prepare('RELEASE work'),
  ]
  const tally = { commits: 0, seconds: 0, failed: 0 }
  let begunAt = 0
  function attempt<T>(work: () => T): T {
    savepoint.run()
    try {
      return work()
    } catch (error) {
      if (sqlite.inTransaction) sqlite.run('ROLLBACK TO work')
      throw error
    } finally {
      if (sqlite.inTransaction) release.run()
    }
  }
  function abandon(): void {
    tally.failed++
    if (sqlite.inTransaction) sqlite.run('ROLLBACK')
  }
  return {
    begin() {
      begunAt = performance.now()
      begin.run()
    },
    commit() {
      commit.run()
      tally.commits++
      tally.seconds += (performance.now() - begunAt) / 1000
    },
    open: () => sqlite.inTransaction,
    attempt,
    abandon,
    /** Of those since the start: how many are on disk, the time that they took, and how many were undone. */
    tally,
  }
}
