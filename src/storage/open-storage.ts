import type { Log } from '../lib/log.ts'
import type { DatabaseLocation } from './database-location.ts'
import type { Storage, StorageOptions } from './ports/storage.ts'
import { openSqlite } from './sqlite/open-sqlite.ts'

/**
 * Opens the database for serving, and creates or migrates it if necessary. A SQLite file is locked for this process: rejects
 * if another server uses it.
 */
export async function openStorage(
  database: DatabaseLocation,
  log: Log,
  options: StorageOptions = {},
): Promise<Storage> {
  if (typeof database === 'string') return openSqlite(database, log, options)
  // Loaded only when it is used, because the driver would delay every start.
  const { openPostgres } = await import('./postgres/open-postgres.ts')
  return await openPostgres(database, log, options)
}
