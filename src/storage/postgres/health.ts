import { type ApiError, serviceUnavailable } from '../../lib/errors/errors.ts'
import { randomText } from '../../lib/id.ts'
import { causeOf, type Log } from '../../lib/log.ts'
import { shareProbe } from '../common/shared-probe.ts'
import type { Readiness } from '../ports/health.ts'
import { type Query, serverTime } from './connection/connections.ts'
import {
  databaseUnavailable,
  isDenied,
  isOutOfSpace,
  outageMessage,
  outageReason,
} from './postgres-errors.ts'

/** The time between two probes, and so the longest time until a database that is back is used again. */
const probeIntervalMs = 250
/** A database that does not answer within this time is unavailable. */
const probeTimeoutMs = 2000
/** After this time without a commit a probe is written, so that no request has to wait for one. */
const idleIntervalMs = 1000

/**
 * Tracks whether the database works. While it does not, requests that need it are rejected at once, and a probe is
 * written until one succeeds.
 */
export class Health {
  readonly #query: Query
  readonly #log: Log
  readonly #timeoutMs: number
  #workedAt: number | undefined
  #outage: ApiError | undefined
  /** Whether the disk was full when a transaction failed: then small ones may succeed, and prove nothing. */
  #full = false
  #timer: Timer | undefined
  #closed = false

  constructor(query: Query, log: Log, timeoutMs = probeTimeoutMs) {
    this.#query = query
    this.#log = log
    this.#timeoutMs = timeoutMs
  }

  /** Returns the 503 while the database is unavailable; undefined while it works. */
  unavailableError(): ApiError | undefined {
    return this.#outage
  }

  /** Reports that a transaction was committed. */
  worked(): void {
    this.#workedAt = performance.now()
    if (this.#full) return
    if (this.#outage) this.#log.info('The database is available again.')
    this.#outage = undefined
    this.#schedule(idleIntervalMs)
  }

  /** Reports that the database is unavailable. */
  failed(cause: unknown): void {
    // A start that fails reports the error itself.
    if (!this.#outage && this.#workedAt !== undefined && !this.#closed)
      this.#log.error('The database is unavailable; requests are rejected.', {
        cause: outageReason(cause, 'the database') ?? causeOf(cause),
      })
    this.#outage = databaseUnavailable(cause)
    this.#full = isOutOfSpace(cause)
    this.#schedule(probeIntervalMs)
  }

  /** Returns the milliseconds since the last commit. */
  age(): number {
    return performance.now() - (this.#workedAt ?? Number.NEGATIVE_INFINITY)
  }

  /** Writes a probe; rejects with the error of the database. */
  async probe(): Promise<void> {
    try {
      if (this.#full) await this.#probeSpace()
      await this.#query(writeProbe, [], this.#timeoutMs)
    } catch (error) {
      this.failed(error)
      throw error
    }
    this.worked()
  }

  /** Rejects if the disk is still full; a database that forbids the probe for another reason is used again. */
  async #probeSpace(): Promise<void> {
    try {
      await this.#query(spaceProbe(), [], this.#timeoutMs)
    } catch (error) {
      // A user without the right to create tables can still write to those that exist.
      if (outageMessage(error) !== undefined && !isDenied(error)) throw error
    }
    this.#full = false
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

/** Fails on a server that cannot be reached or is read-only. It writes too little to fail on a full disk. */
const writeProbe =
  `INSERT INTO transactions (id, results, created_at) VALUES ('probe', '', ${serverTime}) ` +
  'ON CONFLICT (id) DO UPDATE SET created_at = excluded.created_at'

/** The numbers in a table of a megabyte. */
const probeRows = 30_000

/** Returns a statement that fails unless a megabyte more fits on the disk. The table exists only inside its transaction. */
function spaceProbe(): string {
  const table = `space_probe_${randomText(16).toLowerCase()}`
  return (
    `DO $$ BEGIN CREATE UNLOGGED TABLE ${table} AS SELECT generate_series(1, ${probeRows}) n; ` +
    `DROP TABLE ${table}; END $$`
  )
}

/** The time for which a commit proves that the database works; longer than the time between two probes. */
const commitTrustMs = 4000

/** See `Readiness`. */
export function createReadiness(health: Health): Readiness {
  function ready(): Promise<void> | undefined {
    const unavailable = health.unavailableError()
    if (unavailable) throw unavailable
    return health.age() < commitTrustMs ? undefined : health.probe()
  }

  async function examine(): Promise<void> {
    try {
      await health.probe()
    } catch (error) {
      const message = outageMessage(error)
      throw message === undefined ? error : serviceUnavailable(message, error)
    }
  }

  return { ready, probe: shareProbe(examine, () => health.unavailableError() === undefined) }
}
