import { join } from 'node:path'
import type { LoadedSettings } from '../config/load.ts'
import { Secret } from '../lib/secret.ts'

/** Where the data is: the path of a SQLite file, `:memory:`, or the URL of a PostgreSQL database, which has a password. */
export type DatabaseLocation = string | Secret

/** The name of the SQLite file in the data folder. */
export const databaseName = 'weir.db'

/** The name of the file in the data folder that the server with the SQLite file keeps locked. */
export const lockName = 'weir.lock'

/** Returns the PostgreSQL database of the settings, or the SQLite file in the data folder. */
export function databaseLocation({
  settings: { database },
  dataFolder,
}: Pick<LoadedSettings, 'settings' | 'dataFolder'>): DatabaseLocation {
  return database === undefined ? join(dataFolder, databaseName) : new Secret(database)
}

/**
 * Returns the path of the file, or the host and the name of the PostgreSQL database, without what is secret. Throws an
 * error for the operator if the URL is not valid.
 */
export function locationLabel(location: DatabaseLocation): string {
  return typeof location === 'string' ? location : databaseLabel(location)
}

/**
 * Returns the host and the name of a database, without the user, the password and the options of its URL. Throws an error
 * for the operator, which does not show the URL, if that is not valid.
 */
export function databaseLabel(url: Secret): string {
  const parsed = URL.parse(url.reveal())
  if (parsed === null)
    throw new Error(
      'The URL of the database is not valid. Special characters in a password are written as in %23 for #, or %2F for /.',
    )
  const { host, pathname, searchParams } = parsed
  return `${host || searchParams.get('host') || 'localhost'}${pathname}`
}
