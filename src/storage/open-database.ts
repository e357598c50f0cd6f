import type { Log } from '../lib/log.ts'
import { type BusyRetries, patientRunner, retryWhileBusy } from './common/busy-retries.ts'
import type { DatabaseLocation } from './database-location.ts'
import type { Actor } from './ports/audit.ts'
import type { ManagedStores } from './ports/storage.ts'
import type { UsageBuckets } from './ports/usage.ts'
import { createManagedStores } from './scripts/managed-stores.ts'
import { backUp, BackupError } from './sqlite/connection/backup.ts'
import {
  databaseVersion,
  hasDatabase,
  openDatabase as openSqliteFile,
  openExistingDatabase,
} from './sqlite/connection/database.ts'
import { createScriptRunner } from './sqlite/script-runner.ts'
import { isBusy, outageMessage, reasonOf } from './sqlite/sqlite-errors.ts'
import { createUsageSource } from './sqlite/usage-source.ts'
import { Writer } from './sqlite/writer.ts'
import { operatorReports } from './usage/report-slots.ts'
import { createUsageReports } from './usage/reports.ts'

export { databaseSize } from './sqlite/connection/database.ts'

/** The parts of a database that commands read and change, also while a server is running. */
export type AdminStorage = ManagedStores & {
  /** The path of the file, or the host and the name of the PostgreSQL database. */
  readonly name: string
  readonly usage: UsageBuckets
  /**
   * Why the database could not be used, as a clause for the operator with this subject; undefined for any other error, and
   * for a database that stays busy, whose error says so.
   */
  outageReason(error: unknown, subject: string): string | undefined
  close(): Promise<void> | void
}

/** Reads an existing database, also writes it, or creates it first if it is missing. */
export type DatabaseAccess = 'read' | 'write' | 'create'

/** See `BusyRetries`. */
type OnBusy = BusyRetries['onWait']

/**
 * Opens a database for a command, and migrates it before it is written; undefined if there is none. Rejects with an error
 * for the operator if it cannot be used. A PostgreSQL database is always there, and its tables are created. Waits up to
 * 30 s for a database that other processes keep busy; `onBusy` is called when that takes longer than a moment. `actor` makes
 * its changes.
 */
export async function openDatabase(
  location: DatabaseLocation,
  access: DatabaseAccess,
  log: Log,
  actor: Actor,
  onBusy: OnBusy = () => {},
): Promise<AdminStorage | undefined> {
  if (typeof location === 'string') return openSqliteForAdmin(location, access, log, actor, onBusy)
  // Loaded only when it is used, because the driver would delay every command.
  const { openPostgresForAdmin } = await import('./postgres/open-postgres.ts')
  return await openPostgresForAdmin(location, log, actor, onBusy)
}

/** Rejects with an error for the operator if a server could not open the database. Changes nothing. */
export async function checkDatabase(location: DatabaseLocation): Promise<void> {
  if (typeof location === 'string') return void databaseVersion(location)
  const { checkPostgres } = await import('./postgres/connection/database.ts')
  await checkPostgres(location)
}

/**
 * Copies a SQLite file to `target` by way of `partialFile`, also while a server is running. Rejects with an error for the
 * operator, also if a newer version has written the file; PostgreSQL has a program of its own for that.
 */
export async function backUpDatabase(
  location: DatabaseLocation,
  target: string,
  { overwrite, partialFile }: { readonly overwrite: boolean; readonly partialFile: string },
): Promise<void> {
  if (typeof location !== 'string') throw new Error('A PostgreSQL database is backed up with pg_dump.')
  try {
    await backUp(location, target, overwrite, partialFile)
  } catch (error) {
    throw error instanceof BackupError ? new Error(error.message, { cause: error }) : error
  }
}

async function openSqliteForAdmin(
  file: string,
  access: DatabaseAccess,
  log: Log,
  actor: Actor,
  onWait: OnBusy,
): Promise<AdminStorage | undefined> {
  if (access !== 'create' && !hasDatabase(file)) return undefined
  const retries = { isBusy, onWait }
  const open = () => (access === 'read' ? openExistingDatabase(file) : openSqliteFile(file, log))
  const database = await retryWhileBusy(open, retries)
  if (database === undefined) return undefined
  const writer = new Writer(database)
  const runner = patientRunner(createScriptRunner(database, writer), retries)
  return {
    name: file,
    ...createManagedStores(runner, actor),
    usage: createUsageReports(createUsageSource(database), operatorReports),
    outageReason(error, subject) {
      return isBusy(error) || outageMessage(error) === undefined ? undefined : reasonOf(error, subject)
    },
    close() {
      writer.close()
      database.close()
    },
  }
}
