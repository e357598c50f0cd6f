import { type ApiError, serviceUnavailable } from '../../lib/errors/errors.ts'
import type { WriterStats } from '../ports/health.ts'
import { Amounts } from './amounts.ts'
import type { Database } from './connection/database.ts'
import { type Disk, openDisk } from './connection/disk.ts'
import type { Health } from './health.ts'
import { databaseUnavailable } from './sqlite-errors.ts'
import { createLockWait, type Job, Transaction, Write } from './transaction.ts'

export type WriterOptions = {
  /** How many jobs may wait for a transaction. */
  readonly maxWaiting?: number
  /** Rejects writes while the database is known to fail. */
  readonly health?: Pick<Health, 'unavailableError' | 'wrote' | 'failed'>
  /** The disk of the write-ahead log; tests pass their own. */
  readonly disk?: Disk
  /** Is called after each commit. */
  readonly onCommit?: () => void
  /** See `StorageOptions`. */
  readonly lockTimeoutMs?: number | undefined
}

/** After this time without a commit, a job does not wait for others: they arrive one by one. */
const idleMs = 0.3
/** How long commits wait for others before a sync while requests arrive together: a sync costs as much as a request. */
const batchDelayMs = 1
/** After this time without a sync, the next one waits for no other commits. */
const busyMs = 10
/** The time between two attempts to take the lock of another process. */
const lockIntervalMs = 10

/**
 * Commits writes in groups, because a disk takes as long for one as for many.
 *
 * A job after an idle time is a transaction of its own. Otherwise the jobs of one turn of the event loop share one,
 * because a commit costs as much as ten jobs. Jobs that arrive while the disk syncs wait, and share the next transaction,
 * or the failure of the sync. Transactions share a sync while jobs arrive together.
 */
export class Writer {
  readonly #sqlite: Database['sqlite']
  readonly #transaction: Transaction
  readonly #amounts: Amounts
  readonly #disk: Disk
  readonly #health: WriterOptions['health']
  readonly #maxWaiting: number
  readonly #onCommit: () => void
  readonly #lockTimeoutMs: number
  readonly #isWorthRetrying: (failure: unknown) => boolean
  #waiting: Job[] = []
  /** Committed, but not synced to the disk yet; nothing is committed while the disk syncs. */
  #unsynced: Job[] = []
  #isSyncing = false
  /** Runs before the next sync, for which commits are collected. */
  #batchTimer: Timer | undefined
  #paused = false
  #closed = false
  /** On the clock of `performance.now()`. */
  #committedAt = 0
  /** On the same clock: the end of the last sync, and the jobs that shared it. */
  #syncedAt = 0
  #syncedJobs = 0

  constructor({ sqlite }: Database, options: WriterOptions = {}) {
    const { maxWaiting = 10_000, health, disk, onCommit, lockTimeoutMs = 1000 } = options
    this.#sqlite = sqlite
    this.#amounts = new Amounts(sqlite)
    this.#transaction = new Transaction(sqlite)
    this.#disk = disk ?? openDisk(sqlite.filename)
    this.#health = health
    this.#maxWaiting = maxWaiting
    this.#onCommit = onCommit ?? (() => {})
    this.#lockTimeoutMs = lockTimeoutMs
    this.#isWorthRetrying = createLockWait(lockTimeoutMs)
  }

  /**
   * Runs the work in the next transaction, alone or with other work, and settles when that is durable on disk. If
   * `durable` returns false for its value, it settles when the transaction is committed: a killed process loses nothing
   * then, but a power cut may. Work that throws rolls back only itself; a transaction that fails rejects all of its work
   * with 503.
   */
  write<T>(work: () => T, durable: (value: T) => boolean = () => true): Promise<T> {
    return this.#add(work, durable, false)
  }

  /** The same for work that reads and changes balances and budgets, which it must do with `amounts` and last. */
  writeAmounts<T>(work: (amounts: Amounts) => T, durable: (value: T) => boolean = () => true): Promise<T> {
    return this.#add(() => work(this.#amounts), durable, true)
  }

  #add<T>(work: () => T, durable: (value: T) => boolean, usesAmounts: boolean): Promise<T> {
    const unavailable = this.unavailableError()
    if (unavailable) return Promise.reject(unavailable)
    if (this.#waiting.length === 0) this.#schedule()
    return new Promise((resolve, reject) =>
      this.#waiting.push(new Write(work, durable, resolve, reject, usesAmounts)),
    )
  }

  /** Returns the 503 with which a write would be rejected now; undefined if it would be accepted. */
  unavailableError(): ApiError | undefined {
    if (this.#closed) return serviceUnavailable('The gateway is shutting down.')
    if (this.#waiting.length >= this.#maxWaiting)
      return serviceUnavailable('Too many writes are waiting for the database. Try again later.')
    return this.#health?.unavailableError()
  }

  /** Runs this work between two transactions; writes wait until it settles. */
  async whilePaused<T>(work: () => Promise<T>): Promise<T> {
    this.#paused = true
    try {
      return await work()
    } finally {
      this.#paused = false
      if (this.#waiting.length > 0) this.#schedule()
    }
  }

  /** The number of waiting jobs, and of transactions since the start. */
  stats(): WriterStats {
    return { waiting: this.#waiting.length, ...this.#transaction.stats }
  }

  /** Commits the jobs that wait, and rejects later ones. */
  close(): void {
    this.#closed = true
    this.#paused = false
    clearTimeout(this.#batchTimer)
    // No other request is delayed by this wait any more.
    if (this.#waiting.length > 0) this.#sqlite.run(`PRAGMA busy_timeout = ${this.#lockTimeoutMs}`)
    this.#commitWaiting()
    if (this.#unsynced.length > 0) this.#synced(failureOf(() => this.#disk.syncNow()))
    this.#disk.close()
  }

  #schedule(): void {
    if (this.#paused || this.#isSyncing) return
    if (performance.now() - this.#committedAt > idleMs) queueMicrotask(this.#commitWaiting)
    else setImmediate(this.#commitWaiting)
  }

  readonly #commitWaiting = (): void => {
    // The sync that runs would not include them.
    if (this.#paused || this.#waiting.length === 0 || (this.#isSyncing && !this.#closed)) return
    const failedToBegin = failureOf(() => this.#transaction.begin())
    if (this.#isWorthRetrying(failedToBegin) && !this.#closed)
      return void setTimeout(this.#commitWaiting, lockIntervalMs)
    const jobs = this.#waiting
    this.#waiting = []
    const failure = failedToBegin ?? commit(jobs, this.#transaction, this.#amounts)
    if (failure !== undefined) return this.#failed(jobs, failure)
    this.#health?.wrote()
    this.#committedAt = performance.now()
    this.#onCommit()
    for (const job of jobs)
      if (job.isDurable()) this.#unsynced.push(job)
      else job.settle()
    if (this.#unsynced.length > 0) this.#scheduleSync()
  }

  #scheduleSync(): void {
    // `close` syncs by itself.
    if (this.#closed || this.#isSyncing || this.#batchTimer !== undefined) return
    const isBusy = this.#syncedJobs > 1 && performance.now() - this.#syncedAt < busyMs
    if (isBusy) this.#batchTimer = setTimeout(this.#endBatch, batchDelayMs)
    else this.#sync()
  }

  readonly #endBatch = (): void => {
    try {
      this.#commitWaiting()
    } finally {
      this.#batchTimer = undefined
      if (!this.#closed) this.#sync()
    }
  }

  #sync(): void {
    this.#isSyncing = true
    this.#disk.sync((failure) => this.#synced(failure))
  }

  #synced(failure: unknown): void {
    this.#isSyncing = false
    this.#syncedAt = performance.now()
    const jobs = this.#unsynced
    this.#syncedJobs = jobs.length
    this.#unsynced = []
    if (failure !== undefined) this.#failed([...jobs, ...this.#waiting.splice(0)], failure)
    else for (const job of jobs) job.settle()
    if (this.#waiting.length > 0) this.#schedule()
  }

  #failed(jobs: readonly Job[], failure: unknown): void {
    if (jobs.length === 0) return
    this.#health?.failed(failure)
    const error = databaseUnavailable(failure)
    for (const job of jobs) job.reject(error)
  }
}

/** Returns the failure of the whole transaction; undefined if it was committed. */
function commit(jobs: readonly Job[], transaction: Transaction, amounts: Amounts): unknown {
  const failure = failureOf(() => {
    amounts.begin()
    for (const job of jobs) {
      // Outside of the job, which may be rolled back alone.
      if (!job.usesAmounts) amounts.flush()
      job.run(transaction, jobs.length === 1)
      if (!job.usesAmounts) amounts.discard()
    }
    amounts.flush()
    transaction.commit()
  })
  if (failure !== undefined) {
    amounts.discard()
    transaction.rollback()
  }
  return failure
}

function failureOf(work: () => void): unknown {
  try {
    work()
    return undefined
  } catch (error) {
    return error
  }
}
