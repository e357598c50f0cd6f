import { dirname, join } from 'node:path'
import { ApiError, serviceUnavailable } from '../lib/errors/errors.ts'
import { causeOf } from '../lib/log.ts'
import { findDatabaseUrl } from '../config/load.ts'
import { findDataFolder } from '../config/paths.ts'
import { localActor } from '../storage/local-actor.ts'
import { type DatabaseLocation, databaseName } from '../storage/database-location.ts'
import type { FileChange } from '../storage/ports/audit.ts'
import { type AdminStorage, type DatabaseAccess, openDatabase } from '../storage/open-database.ts'
import { type Call, type Flags, type Signature, type Subcommand, subcommand } from './command.ts'
import type { CliContext } from './context.ts'
import { CommandError, UsageError } from './errors.ts'
import { logTo } from './log.ts'

/** The flags by which a command finds the database. */
export type DatabaseFlags = { readonly config?: string; readonly data?: string; readonly json?: boolean }
type Work<T> = (storage: AdminStorage) => Promise<T>

/** Makes a command that uses the database: `open` runs `work` with it, and throws `CommandError` if there is none to read or write. */
export function storageCommand<
  const Own extends Flags = Record<never, never>,
  const Operands extends readonly string[] = [],
>(
  command: string,
  signature: Signature<Own, Operands>,
  run: (call: StorageCall<Own, Operands>) => Promise<void | number>,
): Subcommand {
  return subcommand(command, signature, (call: Call<Own, Operands>) =>
    run({ ...call, open: (access, work) => withDatabase(access, call.flags, call.context, work) }),
  )
}

type StorageCall<Own extends Flags, Operands extends readonly string[]> = Call<Own, Operands> & {
  open<T>(access: DatabaseAccess, work: Work<T>): Promise<T>
}

/**
 * Finds the database of these settings. Does not fail for another mistake in the settings file: it must not keep an operator
 * from revoking a key. Throws `UsageError` for a folder beside a PostgreSQL database: the operator may mean either of them.
 */
export function configuredDatabase(flags: DatabaseFlags, context: CliContext): DatabaseLocation {
  const location = findDatabase(flags, context)
  if (typeof location === 'string' || !flags.data) return location
  const [setting, file] = context.environment.WEIR_DATABASE
    ? ['WEIR_DATABASE', 'unset WEIR_DATABASE']
    : ['the settings file', 'name a settings file without “database” with --config']
  throw new UsageError(
    `--data names the folder of a SQLite file, but ${setting} names a PostgreSQL database. To use PostgreSQL, leave out --data; to use the file in the folder, ${file}.`,
  )
}

function findDatabase(flags: DatabaseFlags, context: CliContext): DatabaseLocation {
  return findDatabaseUrl({ flags, ...context }) ?? join(findDataFolder({ flags, ...context }), databaseName)
}

/** Writes a change of files, which is made already, to the audit log, if there is a database. */
export async function recordFileChange(
  change: FileChange,
  flags: DatabaseFlags,
  context: CliContext,
): Promise<void> {
  try {
    // With PostgreSQL, the files of the data folder may be those of --data.
    const storage = await open(findDatabase(flags, context), 'write', flags, context)
    await storage?.recordFileChange(change).finally(() => storage.close())
  } catch (error) {
    context.err(`The change is made, but could not be written to the audit log: ${causeOf(error)}`)
  }
}

/** Runs `work` with the database, opened to be read, written or created; throws `CommandError` if there is none. */
export async function withDatabase<T>(
  access: DatabaseAccess,
  flags: DatabaseFlags,
  context: CliContext,
  work: Work<T>,
): Promise<T> {
  const location = configuredDatabase(flags, context)
  const storage = await open(location, access, flags, context)
  if (storage === undefined)
    throw new CommandError(
      `There is no database in ${dirname(String(location))}. Start weir serve first, or choose another folder with --data.`,
    )
  try {
    return await work(storage)
  } catch (error) {
    throw withReason(error, storage)
  } finally {
    await storage.close()
  }
}

/** The error of an unavailable database with its reason, which clients do not get; any other error as it is. */
function withReason(error: unknown, { name, outageReason }: AdminStorage): unknown {
  if (!(error instanceof ApiError) || error.status !== 503) return error
  const reason = outageReason(error, `The database ${name}`)
  return reason === undefined ? error : serviceUnavailable(`${reason}.`, error)
}

async function open(
  location: DatabaseLocation,
  access: DatabaseAccess,
  flags: DatabaseFlags,
  context: CliContext,
) {
  let noticed = flags.json === true
  const showBusy = (maxMs: number) => {
    if (!noticed) context.err(`The database is busy. Waiting for it, up to ${maxMs / 1000} s.`)
    noticed = true
  }
  const actor = localActor('command_line', 'cli', context.environment)
  return openDatabase(location, access, logTo(context), actor, showBusy)
}
