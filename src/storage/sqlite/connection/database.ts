import { Database as Sqlite } from 'bun:sqlite'
import { type BunSQLiteDatabase, drizzle } from 'drizzle-orm/bun-sqlite'
import { createLog, type Log } from '../../../lib/log.ts'
import { enableAutoVacuum } from './auto-vacuum.ts'
import { migrate } from './migrate.ts'
import { migrations } from './migrations.ts'
import { isBusy } from '../sqlite-errors.ts'
import { createRunScript, type RunScript } from '../run-script.ts'
import { createPrivateFile } from './private-file.ts'

/** An open database with the newest schema. */
export type Database = {
  /** For transactions, pragmas and plain statements. */
  readonly sqlite: Sqlite
  /** Executes scripts on the same connection. */
  readonly run: RunScript
  /** The query builder on the same connection. */
  readonly query: BunSQLiteDatabase
  close(): void
}

/** The path of a database that exists only in memory. */
export const inMemory = ':memory:'

/** The time to wait for a lock while the database is opened: another process may be migrating it. */
export const openTimeoutMs = 5000
/** The time to wait for a lock afterwards: requests wait meanwhile, and the writer retries by itself. */
const busyTimeoutMs = 20

/**
 * The pages of the write-ahead log (16 MiB) that are a reason for a checkpoint. Most pages are written repeatedly, so a
 * longer log means fewer pages to copy.
 */
export const checkpointPages = 4000

/** The bytes of a page in the log. */
export const walPageBytes = 4096

/** The size in bytes that the log file keeps: twice that of these pages, for what is written during a checkpoint. */
export const maxWalBytes = 2 * checkpointPages * walPageBytes

/**
 * Opens the file or `:memory:`, migrates it, and creates it, readable only by its owner, if it is missing. Throws an error
 * that names the file.
 */
export function openDatabase(file: string, log: Log = createLog()): Database {
  const sqlite = openFile(file)
  try {
    prepare(sqlite, log)
  } catch (error) {
    sqlite.close()
    throw databaseError(error, file)
  }
  return {
    sqlite,
    run: createRunScript(sqlite),
    query: drizzle({ client: sqlite }),
    close: () => sqlite.close(),
  }
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
  sqlite.run(`PRAGMA busy_timeout = ${openTimeoutMs}`)
  sqlite.run('PRAGMA synchronous = FULL')
  enableAutoVacuum(sqlite)
  // Before any other change, because a database that is rejected must not be modified.
  migrate(sqlite, migrations, log)
  if (sqlite.filename !== inMemory) enableWriteAheadLog(sqlite)
  // From here on the writer syncs the disk.
  sqlite.run('PRAGMA synchronous = NORMAL')
  sqlite.run(`PRAGMA wal_autocheckpoint = ${checkpointPages}`)
  sqlite.run(`PRAGMA journal_size_limit = ${maxWalBytes}`)
  sqlite.run('PRAGMA foreign_keys = ON')
  sqlite.run(`PRAGMA busy_timeout = ${busyTimeoutMs}`)
}

/** Adds the name of the database to errors of SQLite and of the file system, which have a code and name no file. */
export function databaseError(error: unknown, file: string): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error
  return new Error(`The database ${file} cannot be opened: ${error.message}.`, { cause: error })
}

/** Retries, because `busy_timeout` does not apply to this change, and other processes may be opening the new file. */
function enableWriteAheadLog(sqlite: Sqlite): void {
  const deadline = Date.now() + openTimeoutMs
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
