import { Database as Sqlite, type Statement } from 'bun:sqlite'
import { accessSync, constants, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { createLog, type Log } from '../../../lib/log.ts'
import { errorCode, platformFailure } from '../../../lib/platform-failure.ts'
import { createRunScript, type RunScript } from '../run-script.ts'
import { isBusy, reasonOf } from '../sqlite-errors.ts'
import { createPrivateFile } from '../../../lib/files.ts'
import { enableAutoVacuum, migrate, migrations, schemaVersion } from './migrate.ts'

/** An open database with the newest schema. */
export type Database = {
  /** For transactions, pragmas and plain statements. */
  readonly sqlite: Sqlite
  /** Executes scripts on the same connection. */
  readonly run: RunScript
  readonly prepared: Prepared
  close(): void
}

/** Prepares a statement at its first use. What every request executes is prepared once by its user instead. */
export type Prepared = <Row>(text: string) => Statement<Row, (string | number | null)[]>

/** The path of a database that exists only in memory. */
export const inMemory = ':memory:'

/** The time to wait for a lock while the database is opened: another process may be migrating it. */
const openTimeoutMs = 5000
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
  return toDatabase(sqlite)
}

function toDatabase(sqlite: Sqlite): Database {
  return {
    sqlite,
    run: createRunScript(sqlite),
    prepared: createPrepared(sqlite),
    close: () => sqlite.close(),
  }
}

/** Clients choose what a report is grouped and filtered by, and so its statements. */
const maxPrepared = 500

/** See `Prepared`. */
export function createPrepared(sqlite: Sqlite): Prepared {
  const statements = new Map<string, Statement>()
  function prepare(text: string): Statement {
    if (statements.size >= maxPrepared) statements.clear()
    const statement = sqlite.prepare(text)
    statements.set(text, statement)
    return statement
  }
  return <Row>(text: string) =>
    (statements.get(text) ?? prepare(text)) as Statement<Row, (string | number | null)[]>
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
function databaseError(error: unknown, file: string): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error
  const reason = accessProblem(error, file) ?? reasonOf(error)
  return new Error(`The database ${file} cannot be opened: ${reason}.`, { cause: error })
}

/** SQLite does not say why it cannot open a file, or those that it needs beside it; undefined for any other error. */
export function accessProblem(error: unknown, file: string): string | undefined {
  if (!errorCode(error)?.startsWith('SQLITE_CANTOPEN')) return undefined
  try {
    for (const path of [file, dirname(file)]) accessSync(path, constants.R_OK | constants.W_OK)
    return undefined
  } catch (denied) {
    return platformFailure(denied)
  }
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

/**
 * Opens a database for reading, without creating or migrating it; undefined if the file is missing or empty. Throws an
 * error for the operator if the file is not a database, or has another schema.
 */
export function openExistingDatabase(file: string): Database | undefined {
  if (!hasDatabase(file)) return undefined
  const { sqlite, version } = openUnchanged(file)
  if (version < migrations.length) {
    sqlite.close()
    throw olderDatabase(file, version)
  }
  return toDatabase(sqlite)
}

/** Returns the number of applied migrations; undefined if there is no database. Throws like `openExistingDatabase`. */
export function databaseVersion(file: string): number | undefined {
  if (!hasDatabase(file)) return undefined
  const { sqlite, version } = openUnchanged(file)
  sqlite.close()
  return version
}

/** Whether the file exists and is not empty. */
export function hasDatabase(file: string): boolean {
  return (databaseSize(file) ?? 0) > 0
}

/** Returns the bytes of the file; undefined if it is missing. Throws an error that names it if its folder cannot be read. */
export function databaseSize(file: string): number | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false })?.size
  } catch (error) {
    throw databaseError(error, file)
  }
}

/** Not `readonly`: such a connection would leave the files of the write-ahead log behind. */
function openUnchanged(file: string): { readonly sqlite: Sqlite; readonly version: number } {
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
