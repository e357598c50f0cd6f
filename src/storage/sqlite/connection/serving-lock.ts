import { Database as Sqlite, SQLiteError } from 'bun:sqlite'
import { dirname, join } from 'node:path'
import { createPrivateFile } from './private-file.ts'

/** The file in the data folder that a serving process has locked. */
export const lockName = 'weir.lock'

/**
 * Keeps other servers from the folder of this database, until it is released or the process ends in any way. Two
 * would each settle what the other has open. Throws a sentence where another one has the lock.
 */
export function lockForServing(database: string): { release(): void } {
  const folder = dirname(database)
  const sqlite = openLock(join(folder, lockName), folder)
  try {
    // A lock of the operating system by way of SQLite, which knows how to take one on each of them.
    sqlite.run('BEGIN EXCLUSIVE')
  } catch (error) {
    sqlite.close()
    throw error instanceof SQLiteError && error.code === 'SQLITE_BUSY' ? inUse(folder) : error
  }
  return { release: () => sqlite.close() }
}

function openLock(file: string, folder: string): Sqlite {
  try {
    createPrivateFile(file)
    return new Sqlite(file)
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error)
    throw new Error(`The data folder ${folder} cannot be used: ${cause}.`, { cause: error })
  }
}

function inUse(folder: string): Error {
  return new Error(
    `Another weir serve uses the data folder ${folder}. Stop that one, or serve from another folder with --data.`,
  )
}
