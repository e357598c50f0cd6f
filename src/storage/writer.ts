import type { Database as Sqlite } from 'bun:sqlite'
import { serviceUnavailable } from '../lib/errors.ts'
import type { Database } from './database.ts'
import { databaseGone, toOutage } from './outage.ts'

/** Commits writes in groups: a disk takes as long for one as for many. */
export type Writer = {
  /**
   * Runs the work in the next transaction, alone or with others, and settles once that is safely on disk. Work that
   * throws undoes only itself; a transaction that fails rejects all of its works with 503.
   */
  write<T>(work: () => T): Promise<T>
  /** Commits what waits and takes nothing more. */
  close(): void
}

type Job = {
  /** Throws only what ends the whole transaction. */
  run(transaction: Transaction): void
  settle(): void
  reject(error: Error): void
}

type Transaction = ReturnType<typeof prepareTransaction>

/** Milliseconds. */
const gathering = 1

/**
 * The works of one turn of the event loop are one transaction. A work that comes alone waits for no other; while
 * they come together, each transaction waits a moment for more, because a commit costs as much as ten works.
 */
export function createWriter(database: Database, mostWaiting = 10_000): Writer {
  const transaction = prepareTransaction(database.sqlite)
  let waiting: Job[] = []
  let closed = false
  let together = false

  function write<T>(work: () => T): Promise<T> {
    if (closed) return Promise.reject(serviceUnavailable('The gateway is stopping.'))
    if (waiting.length >= mostWaiting)
      return Promise.reject(serviceUnavailable('Too many writes wait for the database.'))
    if (waiting.length === 0) schedule()
    return new Promise((resolve, reject) => waiting.push(createJob(work, resolve, reject)))
  }

  function schedule(): void {
    if (together) setTimeout(commitWaiting, gathering)
    else setImmediate(commitWaiting)
  }

  function commitWaiting(): void {
    const jobs = waiting
    waiting = []
    together = jobs.length > 1
    if (jobs.length > 0) commit(jobs, transaction)
  }

  function close(): void {
    closed = true
    commitWaiting()
  }

  return { write, close }
}

function commit(jobs: readonly Job[], transaction: Transaction): void {
  try {
    transaction.begin()
    for (const job of jobs) job.run(transaction)
    transaction.commit()
  } catch (error) {
    const gone = databaseGone(error)
    for (const job of jobs) job.reject(gone)
    transaction.abandon()
    return
  }
  for (const job of jobs) job.settle()
}

function createJob<T>(work: () => T, resolve: (value: T) => void, reject: (error: unknown) => void): Job {
  let settle = () => {}
  function run(transaction: Transaction): void {
    try {
      const value = transaction.attempt(work)
      settle = () => resolve(value)
    } catch (error) {
      // A full disk, among others, undoes the whole transaction and not only the statement.
      if (!transaction.open()) throw error
      settle = () => reject(toOutage(error))
    }
  }
  return { run, settle: () => settle(), reject }
}

function prepareTransaction(sqlite: Sqlite) {
  const [begin, commit, savepoint, release] = [
    sqlite.prepare('BEGIN IMMEDIATE'),
    sqlite.prepare('COMMIT'),
    sqlite.prepare('SAVEPOINT work'),
    sqlite.prepare('RELEASE work'),
  ]
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
    if (sqlite.inTransaction) sqlite.run('ROLLBACK')
  }
  return {
    begin: () => begin.run(),
    commit: () => commit.run(),
    open: () => sqlite.inTransaction,
    attempt,
    abandon,
  }
}
