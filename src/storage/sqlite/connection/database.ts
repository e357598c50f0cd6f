import { Database as Sqlite } from 'bun:sqlite'
import { type BunSQLiteDatabase, drizzle } from 'drizzle-orm/bun-sqlite'
import { createLog, type Log } from '../../../lib/log.ts'
import { keepShrinkable } from './auto-vacuum.ts'
import { migrate } from './migrate.ts'
import { migrations } from './migrations.ts'
import { isBusy } from '../sqlite-errors.ts'
import { createPrivateFile } from './private-file.ts'

/** An open database with the newest schema. */
export type Database = {
  /** For transactions and pragmas. */
  readonly sqlite: Sqlite
  /** For everything that is stored. */
  readonly query: BunSQLiteDatabase
  close(): void
}

/** The name of the database in the data folder. */
export const databaseName = 'weir.db'

/** The path of a database that is not kept. */
export const inMemory = ':memory:'

/**
 * Milliseconds to wait for another process: long while it may be migrating, hardly at all once requests wait with us;
 * whoever writes tries again.
 */
export const openingTimeout = 5000
const busyTimeout = 20

/**
 * Pages of the log, 16 MiB, until it is carried over into the database, which holds up every request and waits for the
 * disk twice. Most pages are written again and again: the more of the log is taken at a time, the less has to be copied.
 */
export const checkpointPages = 4000

/** Bytes that the file of the log keeps: twice what it needs for so many pages, for commits that go beyond them. */
export const maxWalBytes = 2 * checkpointPages * 4096

/** Opens the file or `:memory:`; makes it, readable by its owner alone, where it is missing. */
export function openDatabase(file: string, log: Log = createLog()): Database {
  const sqlite = openFile(file)
  try {
    prepare(sqlite, log)
  } catch (error) {
    sqlite.close()
    throw databaseError(error, file)
  }
  return { sqlite, query: drizzle({ client: sqlite }), close: () => sqlite.close() }
}

function openFile(file: string): Sqlite {
  try {
    if (file !== inMemory) createPrivateFile(file)
    return new Sqlite(file)
  } catch (error) {
    throw databaseError(error, file)
  }
}

function prepare(sqlite: Sqlite, log: Log): void {
  sqlite.run(`PRAGMA busy_timeout = ${openingTimeout}`)
  sqlite.run('PRAGMA synchronous = FULL')
  keepShrinkable(sqlite)
  // Before anything else is changed, because a database that is refused must stay as it is.
  migrate(sqlite, migrations, log)
  if (sqlite.filename !== inMemory) keepWriteAheadLog(sqlite)
  // From here on the writer sees to the disk.
  sqlite.run('PRAGMA synchronous = NORMAL')
  sqlite.run(`PRAGMA wal_autocheckpoint = ${checkpointPages}`)
  sqlite.run(`PRAGMA journal_size_limit = ${maxWalBytes}`)
  sqlite.run('PRAGMA foreign_keys = ON')
  sqlite.run(`PRAGMA busy_timeout = ${busyTimeout}`)
}

/** The error with the name of the database. Errors of SQLite and of the file system have a code, and name no file. */
export function databaseError(error: unknown, file: string): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error
  return new Error(`The database ${file} cannot be opened: ${error.message}.`, { cause: error })
}

/** The change to WAL does not wait for locks of other processes that open the new file at the same moment. */
function keepWriteAheadLog(sqlite: Sqlite): void {
  const deadline = Date.now() + openingTimeout
  for (;;) {
    try {
      sqlite.run('PRAGMA journal_mode = WAL')
      return
    } catch (error) {
      if (!isBusy(error) || Date.now() > deadline) throw error
      Bun.sleepSync(5)
    }
  }
}
