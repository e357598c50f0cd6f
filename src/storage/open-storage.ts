import type { Log } from '../lib/log.ts'
import type { DatabaseLocation } from './database-location.ts'
import type { Storage } from './ports/storage.ts'
import { openSqlite } from './sqlite/open-sqlite.ts'

export type StorageOptions = {
  /** The milliseconds of the rate limits, instead of a monotonic clock, and of that of a PostgreSQL database. */
  readonly clock?: (() => number) | undefined
  /** The milliseconds for which a write waits while another process has locked the SQLite file; default 1,000. */
  readonly lockTimeoutMs?: number | undefined
}

/**
 * Opens the database for serving, and creates or migrates it if necessary. A SQLite file is locked for this process: rejects
 * if another server uses it.
 */
export async function openStorage(
  database: DatabaseLocation,
  log: Log,
  { clock, lockTimeoutMs }: StorageOptions = {},
): Promise<Storage> {
  if (typeof database === 'string') return openSqlite(database, log, lockTimeoutMs, clock)
  // Loaded only when it is used, because the driver would delay every start.
  const { openPostgres } = await import('./postgres/open-postgres.ts')
  return await openPostgres(database, log, clock)
}
