import { basename, dirname, join, resolve } from 'node:path'
import { findDatabaseUrl, parseDatabaseUrl } from '../../config/load.ts'
import { findDataFolder } from '../../config/paths.ts'
import type { DatabaseLocation } from '../../storage/open-storage.ts'
import { databaseName } from '../../storage/sqlite/connection/database.ts'
import type { CliContext } from '../context.ts'
import { CommandError, UsageError } from '../errors.ts'

type Flags = {
  readonly from?: string
  readonly to?: string
  readonly config?: string
  readonly data?: string
}

/** Where `weir copy` copies from and to; the one that is not named is the configured database. */
export type CopyEnds = { readonly from: DatabaseLocation; readonly to: DatabaseLocation }

/** Finds both databases; throws `UsageError` if neither is named. */
export function findCopyEnds(flags: Flags, context: CliContext): CopyEnds {
  const [from, to] = [namedDatabase('from', flags, context), namedDatabase('to', flags, context)]
  if (from === undefined && to === undefined)
    throw new UsageError('weir copy requires --to or --from. For help, run: weir copy --help')
  const ends = {
    from: from ?? configuredDatabase(flags, context),
    to: to ?? configuredDatabase(flags, context),
  }
  if (typeof ends.from === 'string' && typeof ends.to === 'string')
    throw new CommandError(
      'Both databases are SQLite files. Copy one with weir backup, or name a PostgreSQL database with --to or --from.',
    )
  return ends
}

/** The value of the flag, or of the variable, which other users of the machine cannot read. */
function namedDatabase(
  end: 'from' | 'to',
  flags: Flags,
  { environment, cwd }: CliContext,
): DatabaseLocation | undefined {
  const variable = `WEIR_COPY_${end.toUpperCase()}`
  const value = flags[end] ?? (environment[variable] || undefined)
  if (value === undefined) return undefined
  if (value.includes('://')) return parseDatabaseUrl(value, flags[end] === undefined ? variable : `--${end}`)
  const path = resolve(cwd, value)
  return join(basename(path) === databaseName ? dirname(path) : path, databaseName)
}

function configuredDatabase(flags: Flags, context: CliContext): DatabaseLocation {
  return findDatabaseUrl({ flags, ...context }) ?? join(findDataFolder({ flags, ...context }), databaseName)
}
