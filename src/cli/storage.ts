import { dirname, join } from 'node:path'
import { findDataFolder } from '../config/paths.ts'
import type { Keys } from '../storage/ports/keys.ts'
import type { Organizations } from '../storage/ports/organizations.ts'
import type { UsageQuery, UsageReport } from '../storage/ports/usage-report.ts'
import { usageReport } from '../storage/sqlite/billing/usage-report.ts'
import { type Database, databaseName, openDatabase } from '../storage/sqlite/connection/database.ts'
import { hasDatabase, openExistingDatabase } from '../storage/sqlite/connection/existing-database.ts'
import { createKeys } from '../storage/sqlite/keys/keys.ts'
import { createOrganizations } from '../storage/sqlite/organizations/organizations.ts'
import { createWriter } from '../storage/sqlite/writer/writer.ts'
import { CommandError } from './errors.ts'
import type { CliContext } from './context.ts'
import { logTo } from './log.ts'

/** The parts of the database that commands read and change, also while a server is running. */
export type AdminStorage = {
  readonly file: string
  readonly organizations: Organizations
  readonly keys: Keys
  usage(query: UsageQuery): Promise<UsageReport>
}

type Flags = { readonly data?: string }
type Work<T> = (storage: AdminStorage) => Promise<T>

/** Runs `work` with the database opened read-only; throws `CommandError` if there is none. */
export function withReadableStorage<T>(flags: Flags, context: CliContext, work: Work<T>): Promise<T> {
  const file = databaseFile(flags, context)
  const database = openExistingDatabase(file)
  if (database === undefined) throw noDataError(file)
  return withDatabase(database, file, work)
}

/** Runs `work` with the database opened for writing; throws `CommandError` if there is none. */
export function withExistingStorage<T>(flags: Flags, context: CliContext, work: Work<T>): Promise<T> {
  const file = databaseFile(flags, context)
  if (!hasDatabase(file)) throw noDataError(file)
  return withDatabase(openDatabase(file, logTo(context)), file, work)
}

/**
 * Runs `work` with the database opened for writing, and creates it if it is missing. None of these functions reads the
 * settings file: a mistake in it must not keep an operator from revoking a key.
 */
export function withStorage<T>(flags: Flags, context: CliContext, work: Work<T>): Promise<T> {
  const file = databaseFile(flags, context)
  return withDatabase(openDatabase(file, logTo(context)), file, work)
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
      file,
      organizations: createOrganizations(database, writer),
      keys: createKeys(database, writer),
      usage: (query) => usageReport(database, query),
    })
  } finally {
    writer.close()
    database.close()
  }
}
