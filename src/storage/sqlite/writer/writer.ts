import { serviceUnavailable } from '../../../lib/errors/errors.ts'
import type { WriterFigures } from '../../ports/health.ts'
import type { Database } from '../connection/database.ts'
import { type Disk, openDisk } from '../connection/disk.ts'
import type { Health } from '../health/health.ts'
import { databaseUnavailable, isBusy } from '../sqlite-errors.ts'
import { Transaction } from './transaction.ts'
import { type Job, Write } from './write-job.ts'

/** Commits writes in groups: a disk takes as long for one as for many. */
export type Writer = {
  /**
   * Runs the work in the next transaction, alone or with others, and settles once that is safely on disk; where
   * `lasting` says of its value that this is not needed, once it is committed: then a killed process loses nothing of
   * it, but a power cut may. Work that throws undoes only itself; a transaction that fails rejects all of its works
   * with 503.
   */
  write<T>(work: () => T, lasting?: (value: T) => boolean): Promise<T>
  /** How much waits, and what was committed since the start. */
  figures(): WriterFigures
  /** Commits what waits and takes nothing more. */
  close(): void
}

export type WriterOptions = {
  /** The most works that wait for a transaction. */
  readonly mostWaiting?: number
  /** What refuses writes while it is known that they would fail. */
  readonly health?: Pick<Health, 'refusal' | 'wrote' | 'failed'>
  /** Where the log of the database is, unless a test has another. */
  readonly disk?: Disk
}

/** Milliseconds without a commit, after which a work waits for no other at all: they come one by one. */
const rest = 0.3
/** Milliseconds to wait for the lock of another process, and between two tries to take it. */
const longestLock = 1000
const lockPause = 10

/** See `GroupWriter`. */
export function createWriter(database: Database, options: WriterOptions = {}): Writer {
  const writer = new GroupWriter(database, options)
  return {
    write: (work, lasting) => writer.write(work, lasting),
    figures: () => writer.figures(),
    close: () => writer.close(),
  }
}

/**
 * After a rest, a work is a transaction of its own; otherwise those of one turn of the event loop are one together,
 * because a commit costs as much as ten works. While the disk takes in what was committed, the works that come wait, and
 * are the next transaction.
 */
class GroupWriter implements Writer {
  readonly #sqlite: Database['sqlite']
  readonly #transaction: Transaction
  readonly #disk: Disk
  readonly #health: WriterOptions['health']
  readonly #mostWaiting: number
  readonly #mayPass = createPatience()
  #waiting: Job[] = []
  /** Committed, and not yet known to be on disk. */
  #unsafe: readonly Job[] = []
  #closed = false
  /** As `performance.now()` counts. */
  #committedAt = 0

  constructor({ sqlite }: Database, { mostWaiting = 10_000, health, disk }: WriterOptions) {
    this.#sqlite = sqlite
    this.#transaction = new Transaction(sqlite)
    this.#disk = disk ?? openDisk(sqlite.filename)
    this.#health = health
    this.#mostWaiting = mostWaiting
  }

  write<T>(work: () => T, lasting: (value: T) => boolean = () => true): Promise<T> {
    const refusal = this.#closed ? serviceUnavailable('The gateway is stopping.') : this.#health?.refusal()
    if (refusal) return Promise.reject(refusal)
    if (this.#waiting.length >= this.#mostWaiting)
      return Promise.reject(serviceUnavailable('Too many writes wait for the database.'))
    if (this.#waiting.length === 0) this.#schedule()
    return new Promise((resolve, reject) => this.#waiting.push(new Write(work, lasting, resolve, reject)))
  }

  figures(): WriterFigures {
    return { waiting: this.#waiting.length, ...this.#transaction.tally }
  }

  close(): void {
    this.#closed = true
    // Nobody else is held up by the wait any more.
    if (this.#waiting.length > 0) this.#sqlite.run(`PRAGMA busy_timeout = ${longestLock}`)
    this.#commitWaiting()
    if (this.#unsafe.length > 0) this.#synced(failureOf(() => this.#disk.syncNow()))
    this.#disk.close()
  }

  #schedule(): void {
    if (this.#unsafe.length > 0) return
    if (performance.now() - this.#committedAt > rest) queueMicrotask(this.#commitWaiting)
    else setImmediate(this.#commitWaiting)
  }

  readonly #commitWaiting = (): void => {
    if (this.#waiting.length === 0) return
    const refused = failureOf(() => this.#transaction.begin())
    if (this.#mayPass(refused) && !this.#closed) return void setTimeout(this.#commitWaiting, lockPause)
    const jobs = this.#waiting
    this.#waiting = []
    const failure = refused ?? commit(jobs, this.#transaction)
    if (failure !== undefined) return this.#failed(jobs, failure)
    this.#health?.wrote()
    this.#committedAt = performance.now()
    const unsafe: Job[] = []
    for (const job of jobs)
      if (job.lasts()) unsafe.push(job)
      else job.settle()
    if (unsafe.length > 0) this.#sync(unsafe)
  }

  #sync(jobs: readonly Job[]): void {
    this.#unsafe = [...this.#unsafe, ...jobs]
    // At the end it is done at once.
    if (!this.#closed) this.#disk.sync((failure) => this.#synced(failure))
  }

  #synced(failure: unknown): void {
    const jobs = this.#unsafe
    this.#unsafe = []
    if (failure !== undefined) this.#failed(jobs, failure)
    else for (const job of jobs) job.settle()
    if (this.#waiting.length > 0) this.#schedule()
  }

  #failed(jobs: readonly Job[], failure: unknown): void {
    if (jobs.length === 0) return
    this.#health?.failed(failure)
    const gone = databaseUnavailable(failure)
    for (const job of jobs) job.reject(gone)
  }
}

/**
 * Tells of each failure to begin, or undefined, whether the next try may go better: the lock of another process is
 * waited for in pauses, during which all else goes on, and SQLite's own wait would hold up every request.
 */
function createPatience(): (failure: unknown) => boolean {
  let lockedSince: number | undefined
  return (failure) => {
    const now = performance.now()
    lockedSince = isBusy(failure) ? (lockedSince ?? now) : undefined
    if (lockedSince === undefined) return false
    if (now - lockedSince < longestLock) return true
    lockedSince = undefined
    return false
  }
}

/** What kept the whole transaction from being committed; undefined where nothing did. */
function commit(jobs: readonly Job[], transaction: Transaction): unknown {
  const failure = failureOf(() => {
    for (const job of jobs) job.run(transaction, jobs.length === 1)
    transaction.commit()
  })
  if (failure !== undefined) transaction.abandon()
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
