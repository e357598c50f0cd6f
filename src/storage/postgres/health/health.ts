import type { ApiError } from '../../../lib/errors/errors.ts'
import { causeOf, type Log } from '../../../lib/log.ts'
import type { Query } from '../connection/connections.ts'
import { databaseUnavailable } from '../postgres-errors.ts'

/**
 * Tracks whether the database works. While it does not, requests that need it are rejected at once, and a probe is
 * written until one succeeds.
 */
export type Health = {
  /** Returns the 503 while the database is unavailable; undefined while it works. */
  refusal(): ApiError | undefined
  /** Reports that a transaction was committed. */
  worked(): void
  /** Reports that the database is unavailable. */
  failed(cause: unknown): void
  /** Returns the milliseconds since the last commit. */
  age(): number
  /** Rejects requests until it is called without a cause: another server uses the database. */
  block(cause: unknown): void
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
  let workedAt: number | undefined
  let outage: ApiError | undefined
  let blocked: ApiError | undefined
  let timer: Timer | undefined
  let closed = false

  function worked(): void {
    workedAt = performance.now()
    if (outage) log.info('The database is available again.')
    outage = undefined
    schedule(idleIntervalMs)
  }

  function failed(cause: unknown): void {
    if (!outage && workedAt !== undefined && !closed)
      log.error('The database is unavailable; requests are rejected.', { cause: causeOf(cause) })
    outage = databaseUnavailable(cause)
    schedule(probeIntervalMs)
  }

  function schedule(delayMs: number): void {
    clearTimeout(timer)
    if (!closed) timer = setTimeout(() => void probe().catch(() => {}), delayMs).unref()
  }

  async function probe(): Promise<void> {
    try {
      await query(writeProbe, [Date.now()], probeTimeoutMs)
    } catch (error) {
      failed(error)
      throw error
    }
    worked()
    if (blocked) throw blocked
  }

  return {
    refusal: () => outage ?? blocked,
    worked,
    failed,
    block(cause) {
      if (cause !== undefined && blocked === undefined && !closed)
        log.error('The database is used by another server; requests are rejected.', { cause: causeOf(cause) })
      blocked = cause === undefined ? undefined : databaseUnavailable(cause)
    },
    age: () => performance.now() - (workedAt ?? Number.NEGATIVE_INFINITY),
    probe,
    close() {
      closed = true
      clearTimeout(timer)
    },
  }
}

/** Fails on a server that cannot be reached, is read-only or has no space. */
const writeProbe =
  "INSERT INTO transactions (id, results, created_at) VALUES ('probe', '', $1) " +
  'ON CONFLICT (id) DO UPDATE SET created_at = excluded.created_at'
