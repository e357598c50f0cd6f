import { Database as Sqlite } from 'bun:sqlite'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import { statSync } from 'node:fs'
import { type Database, databaseError, openTimeoutMs } from './database.ts'
import { createRunScript } from '../run-script.ts'
import { schemaVersion } from './migrate.ts'
import { migrations } from './migrations.ts'

/**
 * Opens a database for reading, without creating or migrating it; undefined if the file is missing or empty. Throws an
 * error for the operator if the file is not a database, or has another schema.
 */
export function openExistingDatabase(file: string): Database | undefined {
  if (!hasDatabase(file)) return undefined
  const { sqlite, version } = openFile(file)
  if (version < migrations.length) {
    sqlite.close()
    throw olderDatabase(file, version)
  }
  return {
    sqlite,
    run: createRunScript(sqlite),
    query: drizzle({ client: sqlite }),
    close: () => sqlite.close(),
  }
}

/** Returns the number of applied migrations; undefined if there is no database. Throws like `openExistingDatabase`. */
export function databaseVersion(file: string): number | undefined {
  if (!hasDatabase(file)) return undefined
  const { sqlite, version } = openFile(file)
  sqlite.close()
  return version
}

/** Whether the file exists and is not empty. */
export function hasDatabase(file: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0
}

/** Not `readonly`: such a connection would leave the files of the write-ahead log behind. */
function openFile(file: string): { readonly sqlite: Sqlite; readonly version: number } {
  let sqlite: Sqlite | undefined
  try {
    sqlite = new Sqlite(file, { readwrite: true, create: false })
    sqlite.run(`PRAGMA busy_timeout = ${openTimeoutMs}`)
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
      `${migrations.length}). Start weir serve to migrate it.`,
  )
}
