import { serviceUnavailable } from '../../../lib/errors/errors.ts'
import type { WriterStats } from '../../ports/health.ts'
import type { SettledRow } from '../settlement.ts'
import type { Connections } from '../connection/connections.ts'
import type { Health } from '../health.ts'
import { databaseUnavailable, isRepeatable, outageMessage, toOutage } from '../postgres-errors.ts'
import { type Batch, type BatchResults, createBatch, type Job, RejectedError } from './batch.ts'
import { sizeOf } from '../writes.ts'
import { findOutcome, UnknownOutcomeError } from './outcome.ts'

export type WriterOptions = {
  readonly health: Pick<Health, 'unavailableError' | 'worked' | 'failed'>
  /** Called with jobs that were committed after their callers had been rejected. */
  readonly undo?: (jobs: readonly Job[]) => Promise<void>
  /** How many jobs may wait for a transaction. */
  readonly maxWaiting?: number
  /** The time to look for the outcome of a transaction before its callers are rejected. */
  readonly outcomeTimeoutMs?: number
}

/** The most jobs of one transaction, and the characters after which it takes no other one. */
const maxJobs = 250
const maxCharacters = 8 * 1024 * 1024
const attempts = 3

type Waiting = {
  readonly job: Job
  resolve(row: SettledRow | undefined): void
  reject(error: unknown): void
}

/**
 * Commits jobs in groups, because a round trip takes as long for one as for many. One transaction at a time: the jobs that
 * arrive meanwhile share the next one, so that the row of a busy organization is locked once for all of them.
 */
export class Writer {
  readonly #connections: Connections
  readonly #options: WriterOptions
  readonly #stats = { commits: 0, seconds: 0, failed: 0 }
  #waiting: Waiting[] = []
  #running: Promise<void> | undefined
  #closed = false

  constructor(connections: Connections, options: WriterOptions) {
    this.#connections = connections
    this.#options = options
  }

  /**
   * Executes the job in the next transaction, alone or with others, and resolves with the row of the job when that is
   * committed; undefined if the job changed nothing. Rejects with 503 if the database is unavailable.
   */
  write(job: Job): Promise<SettledRow | undefined> {
    const unavailable = this.#closed
      ? serviceUnavailable('The gateway is shutting down.')
      : this.#options.health.unavailableError()
    if (unavailable) return Promise.reject(unavailable)
    if (this.#waiting.length >= (this.#options.maxWaiting ?? 10_000))
      return Promise.reject(
        serviceUnavailable('Too many writes are waiting for the database. Try again later.'),
      )
    // After the other jobs of this turn of the event loop.
    this.#running ??= Promise.resolve().then(() => this.#run())
    return new Promise((resolve, reject) => this.#waiting.push({ job, resolve, reject }))
  }

  stats(): WriterStats {
    return { waiting: this.#waiting.length, ...this.#stats }
  }

  /** Resolves when no job waits and none is running. */
  async settled(): Promise<void> {
    await this.#running
  }

  /** Commits the jobs that wait, and rejects later ones. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#running
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) await this.#commit(this.#takeNext())
    this.#running = undefined
  }

  /** Leaves a second job with the same id to the next transaction: only the first settlement of a request counts. */
  #takeNext(): Waiting[] {
    const [ids, taken, left] = [new Set<string>(), [] as Waiting[], [] as Waiting[]]
    let characters = 0
    for (const waiting of this.#waiting) {
      const fits = taken.length < maxJobs && characters < maxCharacters && !ids.has(waiting.job.id)
      if (fits) {
        ids.add(waiting.job.id)
        characters += sizeOf(waiting.job.rows)
      }
      ;(fits ? taken : left).push(waiting)
    }
    this.#waiting = left
    return taken
  }

  async #commit(taken: readonly Waiting[], attempt = 1): Promise<void> {
    const startedAt = performance.now()
    const batch = createBatch(
      taken.map(({ job }) => job),
      Date.now(),
    )
    let sent = false
    try {
      const results = await this.#connections.use((connection) => {
        sent = true
        return batch.run(connection)
      })
      this.#stats.seconds += (performance.now() - startedAt) / 1000
      this.#committed(taken, results)
    } catch (error) {
      this.#stats.failed++
      if (!sent) return this.#unavailable(taken, error)
      if (error instanceof RejectedError) return await this.#rejected(taken, error.cause, attempt)
      await this.#lost(taken, batch, error, attempt)
    }
  }

  #committed(taken: readonly Waiting[], results: BatchResults): void {
    this.#stats.commits++
    this.#options.health.worked()
    for (const { job, resolve } of taken) resolve(results.get(job.id))
  }

  /** A transaction that the server has rolled back. Repeats its jobs one by one to find the one that is not valid. */
  async #rejected(taken: readonly Waiting[], cause: unknown, attempt: number): Promise<void> {
    if (isRepeatable(cause) && attempt < attempts) return await this.#commit(taken, attempt + 1)
    if (outageMessage(cause) !== undefined) return this.#unavailable(taken, cause)
    const [only] = taken
    if (taken.length === 1) return only?.reject(toOutage(cause))
    for (const waiting of taken) await this.#commit([waiting])
  }

  /**
   * The connection was lost while the transaction ran: it may be committed or not. If it was not it is repeated, because
   * nothing can commit it any more.
   */
  async #lost(taken: readonly Waiting[], batch: Batch, cause: unknown, attempt: number): Promise<void> {
    try {
      const outcome = await findOutcome(this.#connections, batch.ids, {
        timeoutMs: this.#options.outcomeTimeoutMs,
        isStopped: () => this.#closed,
        // The other jobs do not wait for a database that cannot be reached.
        onUnreachable: (error) => this.#unavailable(this.#waiting.splice(0), error),
      })
      if (outcome !== undefined) this.#committed(taken, batch.resultsOf(outcome))
      else if (attempt < attempts) await this.#commit(taken, attempt + 1)
      else this.#unavailable(taken, cause)
    } catch (error) {
      this.#unavailable(taken, error)
      if (error instanceof UnknownOutcomeError) await this.#undoLater(taken, batch)
    }
  }

  /** Undoes jobs that were committed in spite of the rejection, when the database can be reached again. */
  async #undoLater(taken: readonly Waiting[], batch: Batch): Promise<void> {
    while (!this.#closed) {
      try {
        const outcome = await findOutcome(this.#connections, batch.ids, { timeoutMs: 1000 })
        if (outcome === undefined) return
        const results = batch.resultsOf(outcome)
        return await this.#options.undo?.(taken.map(({ job }) => job).filter(({ id }) => results.has(id)))
      } catch {
        // The health check logs the outage.
      }
    }
  }

  #unavailable(jobs: readonly Waiting[], cause: unknown): void {
    this.#options.health.failed(cause)
    const error = databaseUnavailable(cause)
    for (const { reject } of jobs) reject(error)
  }
}
