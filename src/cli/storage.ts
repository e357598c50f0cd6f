import { dirname, join } from 'node:path'
import { findDataFolder } from '../config/paths.ts'
import type { Keys } from '../storage/ports/keys.ts'
import type { Organizations } from '../storage/ports/organizations.ts'
import type { UsageQuestion, UsageReport } from '../storage/ports/usage-report.ts'
import { usageReport } from '../storage/sqlite/billing/usage-report.ts'
import { type Database, databaseName, openDatabase } from '../storage/sqlite/connection/database.ts'
import { hasDatabase, openExistingDatabase } from '../storage/sqlite/connection/existing-database.ts'
import { createKeys } from '../storage/sqlite/keys/keys.ts'
import { createOrganizations } from '../storage/sqlite/organizations/organizations.ts'
import { createWriter } from '../storage/sqlite/writer/writer.ts'
import { type CliContext, CommandError } from './args.ts'
import { logTo } from './log.ts'

/** What commands read and change in the database, also while a server uses it. */
export type Storage = {
  readonly file: string
  readonly organizations: Organizations
  readonly keys: Keys
  usage(question: UsageQuestion): Promise<UsageReport>
}

type Flags = { readonly data?: string }
type Work<T> = (storage: Storage) => Promise<T>

/** Opens the database to be read and closes it after. It creates nothing: without data it says so. */
export function withStoredData<T>(flags: Flags, world: CliContext, work: Work<T>): Promise<T> {
  const file = fileOf(flags, world)
  const database = openExistingDatabase(file)
  if (database === undefined) throw noData(file)
  return withDatabase(database, file, work)
}

/** Opens the database to be changed and closes it after; without data it says so. */
export function withChangedStorage<T>(flags: Flags, world: CliContext, work: Work<T>): Promise<T> {
  const file = fileOf(flags, world)
  if (!hasDatabase(file)) throw noData(file)
  return withDatabase(openDatabase(file, logTo(world)), file, work)
}

/**
 * Opens the database to be changed, made where it is missing, and closes it after. The settings file is not read here
 * and above: a mistake in it must not keep an operator from revoking a key.
 */
export function withStorage<T>(flags: Flags, world: CliContext, work: Work<T>): Promise<T> {
  const file = fileOf(flags, world)
  return withDatabase(openDatabase(file, logTo(world)), file, work)
}

function fileOf(flags: Flags, world: CliContext): string {
  return join(findDataFolder({ flags, ...world }), databaseName)
}

function noData(file: string): CommandError {
  return new CommandError(
    `There is no data in ${dirname(file)}. Start weir serve first, or name another folder with --data.`,
  )
}

async function withDatabase<T>(database: Database, file: string, work: Work<T>): Promise<T> {
  const writer = createWriter(database)
  try {
    return await work({
      file,
      organizations: createOrganizations(database, writer),
      keys: createKeys(database, writer),
      usage: (question) => usageReport(database, question),
    })
  } finally {
    writer.close()
    database.close()
  }
}
