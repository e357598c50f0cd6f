import { Database as Sqlite } from 'bun:sqlite'
import { closeSync, openSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { reasonOf } from '../sqlite-errors.ts'
import { accessProblem } from './database.ts'
import { moveWithoutOverwrite, syncToDisk } from '../../../lib/files.ts'
import { lockName } from '../../database-location.ts'
import { migrations, NewerSchemaError, schemaVersion } from './migrate.ts'

/** The milliseconds to wait for a lock of another process. */
const busyTimeoutMs = 5000

/** A failed backup; its message is for the operator. */
export class BackupError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'BackupError'
  }
}

/**
 * Copies a consistent snapshot of the database to a file that only its owner may read; other processes may write
 * meanwhile. The target appears when the copy is complete and on disk. `part` is the path of the incomplete copy.
 * Rejects with `BackupError`, also if a newer version has written the database, or if the target is a file of it.
 */
export async function backUp(
  database: string,
  target: string,
  overwrite: boolean,
  part = `${target}.${process.pid}.part`,
): Promise<void> {
  try {
    assertFolder(dirname(target))
    assertOtherFile(database, target)
    const present = statSync(target, { throwIfNoEntry: false })
    if (present && !overwrite) throw targetExists(target)
    // A device such as /dev/null would be replaced as well.
    if (present && !present.isFile()) throw new BackupError(`${target} is not a file. Choose another one.`)
    closeSync(openSync(part, 'wx', 0o600))
    try {
      assertKnownSchema(database)
      await copyInThread(database, part)
      syncToDisk(part)
      if (overwrite) renameSync(part, target)
      else if (!moveWithoutOverwrite(part, target)) throw targetExists(target)
    } finally {
      rmSync(part, { force: true })
    }
    if (process.platform !== 'win32') syncToDisk(dirname(target))
  } catch (error) {
    if (error instanceof BackupError) throw error
    throw error instanceof NewerSchemaError
      ? new BackupError(error.message)
      : new BackupError(`The backup failed: ${reasonOf(error, 'the database')}.`)
  }
}

/** Throws if the folder of the target is missing: a failure of the system does not say which of the files it means. */
function assertFolder(folder: string): void {
  const found = statSync(folder, { throwIfNoEntry: false })
  if (found === undefined)
    throw new BackupError(
      `The backup failed: there is no folder ${folder}. Create it, or choose another file.`,
    )
  if (!found.isDirectory())
    throw new BackupError(`The backup failed: ${folder} is not a folder. Choose another file.`)
}

/**
 * Throws if the copy would replace the database or a file beside it, by whichever path: the server would lose its data. A
 * file beside it that is missing would later be taken for one of SQLite.
 */
function assertOtherFile(database: string, target: string): void {
  const path = realPathOf(target)
  const isSame = (file: string) => path === realPathOf(file) || isSameFile(target, file)
  // SQLite writes its files beside the database that a symbolic link leads to.
  const databases = [database, realpathSync(database)]
  if (databases.some(isSame)) throw new BackupError(`${target} is the database itself. Choose another file.`)
  const lock = join(dirname(database), lockName)
  const beside = databases.flatMap((file) => [`${file}-wal`, `${file}-shm`, `${file}-journal`])
  if ([...beside, lock, `${lock}-journal`].some(isSame))
    throw new BackupError(`${target} is a file of the database. Choose another one.`)
}

/** The path through no symbolic link but the file itself, which may be missing. */
function realPathOf(file: string): string {
  return join(realpathSync(dirname(file)), basename(file))
}

/** Whether two paths lead to one file, also by a hard link or without regard to case. */
function isSameFile(one: string, other: string): boolean {
  const [a, b] = [one, other].map((file) => statSync(file, { bigint: true, throwIfNoEntry: false }))
  return a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino
}

/** The copy could not be restored with this version; without this check, that is known only when it is needed. */
function assertKnownSchema(database: string): void {
  try {
    using reader = new Sqlite(database, { readonly: true })
    reader.run(`PRAGMA busy_timeout = ${busyTimeoutMs}`)
    schemaVersion(reader, migrations)
  } catch (error) {
    const problem = accessProblem(error, database)
    throw problem === undefined ? error : new BackupError(`The backup failed: ${database}: ${problem}.`)
  }
}

function targetExists(target: string): BackupError {
  return new BackupError(
    `${target} already exists. Choose another file, or replace this one with --overwrite.`,
  )
}

/** Copies in a thread, because SQLite blocks during a copy and the caller shows the progress. */
function copyInThread(database: string, target: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(copyProgram, { eval: true, workerData: { database, target } })
    thread.once('error', reject)
    thread.once('exit', () => resolve())
  })
}

/** Program text, because a compiled executable has no file to start the thread from. */
const copyProgram = `
const { workerData } = require('node:worker_threads')
const { Database } = require('bun:sqlite')
const reader = new Database(workerData.database, { readonly: true })
reader.run('PRAGMA busy_timeout = ${busyTimeoutMs}')
reader.prepare('VACUUM INTO ?').run(workerData.target)
reader.close()
`
