import { dirname, join } from 'node:path'
import { findDatabaseUrl } from '../config/load.ts'
import { findDataFolder } from '../config/paths.ts'
import { type DatabaseLocation, databaseName } from '../storage/database-location.ts'
import { type AdminStorage, type DatabaseAccess, openDatabase } from '../storage/open-database.ts'
import type { CliContext } from './context.ts'
import { CommandError } from './errors.ts'
import { logTo } from './log.ts'

type Flags = { readonly config?: string; readonly data?: string; readonly json?: boolean }
type Work<T> = (storage: AdminStorage) => Promise<T>

/** Runs `work` with the database opened for reading; throws `CommandError` if there is none. */
export function withReadableStorage<T>(flags: Flags, context: CliContext, work: Work<T>): Promise<T> {
  return withDatabase('read', flags, context, work)
}

/** Runs `work` with the database opened for writing; throws `CommandError` if there is none. */
export function withExistingStorage<T>(flags: Flags, context: CliContext, work: Work<T>): Promise<T> {
  return withDatabase('write', flags, context, work)
}

/** Runs `work` with the database opened for writing, and creates it if it is missing. */
export function withStorage<T>(flags: Flags, context: CliContext, work: Work<T>): Promise<T> {
  return withDatabase('create', flags, context, work)
}

/**
 * Finds the database of these settings. Does not fail for another mistake in the settings file: it must not keep an operator
 * from revoking a key.
 */
export function configuredDatabase(flags: Flags, context: CliContext): DatabaseLocation {
  return findDatabaseUrl({ flags, ...context }) ?? join(findDataFolder({ flags, ...context }), databaseName)
}

async function withDatabase<T>(
  access: DatabaseAccess,
  flags: Flags,
  context: CliContext,
  work: Work<T>,
): Promise<T> {
  const location = configuredDatabase(flags, context)
  let noticed = flags.json === true
  const showBusy = (maxMs: number) => {
    if (!noticed) context.err(`The database is busy. Waiting for it, up to ${maxMs / 1000} s.`)
    noticed = true
  }
  const storage = await openDatabase(location, access, logTo(context), showBusy)
  if (storage === undefined)
    throw new CommandError(
      `There is no database in ${dirname(String(location))}. Start weir serve first, or choose another folder with --data.`,
    )
  try {
    return await work(storage)
  } finally {
    await storage.close()
  }
}
