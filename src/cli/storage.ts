import { createScriptRunner } from '../storage/sqlite/run-script.ts'
import { dirname, join } from 'node:path'
import { findDatabaseUrl } from '../config/load.ts'
import { findDataFolder } from '../config/paths.ts'
import type { Secret } from '../lib/secret.ts'
import type { Keys } from '../storage/ports/keys.ts'
import type { Organizations } from '../storage/ports/organizations.ts'
import type { UsageBuckets } from '../storage/ports/usage-buckets.ts'
import { operatorReports } from '../storage/usage/report-slots.ts'
import { createUsageReports } from '../storage/usage/reports.ts'
import { createUsageSource } from '../storage/sqlite/usage-source.ts'
import { type Database, databaseName, openDatabase } from '../storage/sqlite/connection/database.ts'
import { hasDatabase, openExistingDatabase } from '../storage/sqlite/connection/existing-database.ts'
import { createKeys } from '../storage/scripts/keys.ts'
import { createOrganizations } from '../storage/scripts/organizations.ts'
import { createWriter } from '../storage/sqlite/writer/writer.ts'
import { CommandError } from './errors.ts'
import type { CliContext } from './context.ts'
import { logTo } from './log.ts'

/** The parts of the database that commands read and change, also while a server is running. */
export type AdminStorage = {
  /** The path of the file, or the host and the name of the PostgreSQL database. */
  readonly name: string
  readonly organizations: Organizations
  readonly keys: Keys
  readonly usage: UsageBuckets
}

type Flags = { readonly config?: string; readonly data?: string }
type Work<T> = (storage: AdminStorage) => Promise<T>

/**
 * Runs `work` with the database opened for reading; throws `CommandError` if there is none. None of these functions fails
 * for another mistake in the settings file: it must not keep an operator from revoking a key.
 */
export async function withReadableStorage<T>(flags: Flags, context: CliContext, work: Work<T>): Promise<T> {
  const url = findDatabaseUrl({ flags, ...context })
  if (url !== undefined) return await withPostgres(url, context, work)
  const file = databaseFile(flags, context)
  const database = openExistingDatabase(file)
  if (database === undefined) throw noDataError(file)
  return await withDatabase(database, file, work)
}

/** Runs `work` with the database opened for writing; throws `CommandError` if there is none. */
export async function withExistingStorage<T>(flags: Flags, context: CliContext, work: Work<T>): Promise<T> {
  const url = findDatabaseUrl({ flags, ...context })
  if (url !== undefined) return await withPostgres(url, context, work)
  const file = databaseFile(flags, context)
  if (!hasDatabase(file)) throw noDataError(file)
  return await withDatabase(openDatabase(file, logTo(context)), file, work)
}

/** Runs `work` with the database opened for writing, and creates it if it is missing. */
export async function withStorage<T>(flags: Flags, context: CliContext, work: Work<T>): Promise<T> {
  const url = findDatabaseUrl({ flags, ...context })
  if (url !== undefined) return await withPostgres(url, context, work)
  const file = databaseFile(flags, context)
  return await withDatabase(openDatabase(file, logTo(context)), file, work)
}

function databaseFile(flags: Flags, context: CliContext): string {
  return join(findDataFolder({ flags, ...context }), databaseName)
}

function noDataError(file: string): CommandError {
  return new CommandError(
    `There is no database in ${dirname(file)}. Start weir serve first, or choose another folder with --data.`,
  )
}

async function withDatabase<T>(database: Database, file: string, work: Work<T>): Promise<T> {
  const writer = createWriter(database)
  try {
    return await work({
      name: file,
      organizations: createOrganizations(createScriptRunner(database, writer)),
      keys: createKeys(createScriptRunner(database, writer)),
      usage: createUsageReports(createUsageSource(database), operatorReports),
    })
  } finally {
    writer.close()
    database.close()
  }
}

/** The driver is loaded only when it is used, because it would delay every command. */
async function withPostgres<T>(url: Secret, context: CliContext, work: Work<T>): Promise<T> {
  const { openPostgresForAdmin } = await import('../storage/postgres/open-postgres.ts')
  const { close, ...storage } = await openPostgresForAdmin(url, logTo(context))
  try {
    return await work(storage)
  } finally {
    await close()
  }
}
