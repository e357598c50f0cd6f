import { serviceUnavailable } from '../lib/errors.ts'
import type { Database } from './database.ts'
import type { Health } from './health.ts'
import { databaseGone, isBusy, toOutage } from './outage.ts'
import { prepareTransaction, type Transaction } from './transaction.ts'

/** Commits writes in groups: a disk takes as long for one as for many. */
export type Writer = {
  /**
   * Runs the work in the next transaction, alone or with others, and settles once that is safely on disk. Work that
   * throws undoes only itself; a transaction that fails rejects all of its works with 503.
   */
  write<T>(work: () => T): Promise<T>
  /** How much waits, and what was committed since the start. */
  figures(): WriterFigures
  /** Commits what waits and takes nothing more. */
  close(): void
}

export type WriterFigures = { readonly waiting: number } & Readonly<Transaction['tally']>

export type WriterOptions = {
  /** The most works that wait for a transaction. */
  readonly mostWaiting?: number
  /** What refuses writes while it is known that they would fail. */
  readonly health?: Pick<Health, 'refusal' | 'wrote' | 'failed'>
}

type Job = {
  /** Throws only what ends the whole transaction. */
  run(transaction: Transaction): void
  settle(): void
  reject(error: Error): void
}

/** Milliseconds. */
const gathering = 1
/** Milliseconds to wait for the lock of another process, and between two tries to take it. */
const longestLock = 1000
const lockPause = 10

/**
 * The works of one turn of the event loop are one transaction. A work that comes alone waits for no other; while
 * they come together, each transaction waits a moment for more, because a commit costs as much as ten works.
 */
export function createWriter({ sqlite }: Database, options: WriterOptions = {}): Writer {
  const { mostWaiting = 10_000, health } = options
  const transaction = prepareTransaction(sqlite)
  const mayPass = createPatience()
  let waiting: Job[] = []
  let closed = false
  let together = false

  function write<T>(work: () => T): Promise<T> {
    const refusal = closed ? serviceUnavailable('The gateway is stopping.') : health?.refusal()
    if (refusal) return Promise.reject(refusal)
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
    if (waiting.length === 0) return
    const refused = failureOf(transaction.begin)
    if (mayPass(refused) && !closed) return void setTimeout(commitWaiting, lockPause)
    const jobs = waiting
    waiting = []
    together = jobs.length > 1
    const failure = refused ?? commit(jobs, transaction)
    if (failure === undefined) health?.wrote()
    else health?.failed(failure)
    settle(jobs, failure)
  }

  function close(): void {
    closed = true
    // Nobody else is held up by the wait any more.
    if (waiting.length > 0) sqlite.run(`PRAGMA busy_timeout = ${longestLock}`)
    commitWaiting()
  }

  return { write, figures: () => ({ waiting: waiting.length, ...transaction.tally }), close }
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
    for (const job of jobs) job.run(transaction)
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

function settle(jobs: readonly Job[], failure: unknown): void {
  const gone = failure === undefined ? undefined : databaseGone(failure)
  for (const job of jobs) {
    if (gone) job.reject(gone)
    else job.settle()
  }
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
