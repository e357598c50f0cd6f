import { Database as Sqlite, SQLiteError } from 'bun:sqlite'
import { dirname, join } from 'node:path'
import { reasonOf } from '../sqlite-errors.ts'
import { createPrivateFile } from '../../../lib/files.ts'
import { lockName } from '../../database-location.ts'

/**
 * Locks the folder of this database until the lock is released or the process ends: two servers would settle each
 * other's open reservations. Throws an error for the operator if another server has the lock.
 */
export function lockForServing(database: string): ServingLock {
  const folder = dirname(database)
  const sqlite = openLock(join(folder, lockName), folder)
  try {
    // A lock of the operating system by SQLite, which is portable.
    sqlite.run('BEGIN EXCLUSIVE')
  } catch (error) {
    sqlite.close()
    throw error instanceof SQLiteError && error.code === 'SQLITE_BUSY' ? folderInUse(folder) : error
  }
  return { release: () => sqlite.close() }
}

/** A lock of the folder; it also ends with the process. */
type ServingLock = { release(): void }

function openLock(file: string, folder: string): Sqlite {
  try {
    createPrivateFile(file)
    return new Sqlite(file)
  } catch (error) {
    throw new Error(`The data folder ${folder} cannot be used: ${reasonOf(error)}.`, { cause: error })
  }
}

function folderInUse(folder: string): Error {
  return new Error(
    `The data folder ${folder} is in use by another weir server. Stop that server, or choose another folder with --data.`,
  )
}
