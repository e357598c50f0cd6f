import type { Log } from '../../lib/log.ts'
import type { DatabaseLocation } from '../database-location.ts'
import type { CopySource, CopyTarget } from '../ports/copy.ts'
import * as sqliteSource from '../sqlite/copy/copy-source.ts'
import * as sqliteTarget from '../sqlite/copy/copy-target.ts'
import { copiedTables } from './copied-tables.ts'

/** Opens the database that is copied; rejects with an error for the operator if there is none. */
export async function openCopySource(database: DatabaseLocation): Promise<CopySource> {
  if (typeof database === 'string') return sqliteSource.openCopySource(database, copiedTables)
  // Loaded only when it is used, because the driver would delay every command.
  const postgres = await import('../postgres/copy/copy-source.ts')
  return await postgres.openCopySource(database, copiedTables)
}

/** Opens the database into which is copied; an error for the operator says why it cannot be used. */
export async function openCopyTarget(database: DatabaseLocation, log: Log): Promise<CopyTarget> {
  if (typeof database === 'string') return sqliteTarget.openCopyTarget(database, log)
  const postgres = await import('../postgres/copy/copy-target.ts')
  return postgres.openCopyTarget(database, copiedTables, log)
}
