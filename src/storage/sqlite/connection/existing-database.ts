import { Database as Sqlite } from 'bun:sqlite'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import { statSync } from 'node:fs'
import { type Database, databaseError, openingTimeout } from './database.ts'
import { schemaVersion } from './migrate.ts'
import { migrations } from './migrations.ts'

/**
 * Opens a database for reading and creates nothing: undefined where the file is missing or empty. Throws a sentence
 * where it is no database or one of another version: only a server migrates it.
 */
export function openExistingDatabase(file: string): Database | undefined {
  if (!hasDatabase(file)) return undefined
  const { sqlite, version } = openFile(file)
  if (version < migrations.length) {
    sqlite.close()
    throw olderDatabase(file, version)
  }
  return { sqlite, query: drizzle({ client: sqlite }), close: () => sqlite.close() }
}

/** The schema of the database, as the number of its migrations; undefined where there is none. Throws as above. */
export function databaseVersion(file: string): number | undefined {
  if (!hasDatabase(file)) return undefined
  const { sqlite, version } = openFile(file)
  sqlite.close()
  return version
}

/** Whether the file holds anything; a file that does not exist and an empty one do not. */
export function hasDatabase(file: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0
}

/** Not as `readonly`: such a connection would leave the write-ahead log of SQLite behind. */
function openFile(file: string): { readonly sqlite: Sqlite; readonly version: number } {
  let sqlite: Sqlite | undefined
  try {
    sqlite = new Sqlite(file, { readwrite: true, create: false })
    sqlite.run(`PRAGMA busy_timeout = ${openingTimeout}`)
    sqlite.run('PRAGMA query_only = ON')
    return { sqlite, version: schemaVersion(sqlite, migrations) }
  } catch (error) {
    sqlite?.close()
    throw databaseError(error, file)
  }
}

function olderDatabase(file: string, version: number): Error {
  return new Error(
    `The database ${file} was written by an older version of weir (schema ${version}, this one needs ` +
      `${migrations.length}). weir serve migrates it.`,
  )
}
