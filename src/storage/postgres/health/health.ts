import type { ApiError } from '../../../lib/errors/errors.ts'
import { causeOf, type Log } from '../../../lib/log.ts'
import { serverTime } from '../connection/clock.ts'
import type { Query } from '../connection/connections.ts'
import { databaseUnavailable } from '../postgres-errors.ts'

/**
 * Tracks whether the database works. While it does not, requests that need it are rejected at once, and a probe is
 * written until one succeeds.
 */
export type Health = {
  /** Returns the 503 while the database is unavailable; undefined while it works. */
  unavailableError(): ApiError | undefined
  /** Reports that a transaction was committed. */
  worked(): void
  /** Reports that the database is unavailable. */
  failed(cause: unknown): void
  /** Returns the milliseconds since the last commit. */
  age(): number
  /** Writes a probe; rejects with the error of the database. */
  probe(): Promise<void>
  close(): void
}

/** The time between two probes, and so the longest time until a database that is back is used again. */
const probeIntervalMs = 250
/** A database that does not answer within this time is unavailable. */
const probeTimeoutMs = 2000
/** After this time without a commit a probe is written, so that no request has to wait for one. */
const idleIntervalMs = 1000

/** See `Health`. */
export function createHealth(query: Query, log: Log): Health {
  const health = new ProbedHealth(query, log)
  return {
    unavailableError: () => health.unavailableError(),
    worked: () => health.worked(),
    failed: (cause) => health.failed(cause),
    age: () => health.age(),
    probe: () => health.probe(),
    close: () => health.close(),
  }
}

class ProbedHealth implements Health {
  readonly #query: Query
  readonly #log: Log
  #workedAt: number | undefined
  #outage: ApiError | undefined
  #timer: Timer | undefined
  #closed = false

  constructor(query: Query, log: Log) {
    this.#query = query
    this.#log = log
  }

  unavailableError(): ApiError | undefined {
    return this.#outage
  }

  worked(): void {
    this.#workedAt = performance.now()
    if (this.#outage) this.#log.info('The database is available again.')
    this.#outage = undefined
    this.#schedule(idleIntervalMs)
  }

  failed(cause: unknown): void {
    // A start that fails reports the error itself.
    if (!this.#outage && this.#workedAt !== undefined && !this.#closed)
      this.#log.error('The database is unavailable; requests are rejected.', { cause: causeOf(cause) })
    this.#outage = databaseUnavailable(cause)
    this.#schedule(probeIntervalMs)
  }

  age(): number {
    return performance.now() - (this.#workedAt ?? Number.NEGATIVE_INFINITY)
  }

  async probe(): Promise<void> {
    try {
      await this.#query(writeProbe, [], probeTimeoutMs)
    } catch (error) {
      this.failed(error)
      throw error
    }
    this.worked()
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
  }

  #schedule(delayMs: number): void {
    clearTimeout(this.#timer)
    if (!this.#closed) this.#timer = setTimeout(() => void this.probe().catch(() => {}), delayMs).unref()
  }
}

/** Fails on a server that cannot be reached, is read-only or has no space. */
const writeProbe =
  `INSERT INTO transactions (id, results, created_at) VALUES ('probe', '', ${serverTime}) ` +
  'ON CONFLICT (id) DO UPDATE SET created_at = excluded.created_at'
