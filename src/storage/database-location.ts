import { join } from 'node:path'
import type { LoadedSettings } from '../config/load.ts'
import { Secret } from '../lib/secret.ts'
import { databaseLabel } from './postgres/connection/database.ts'

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
