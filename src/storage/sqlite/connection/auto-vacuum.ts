import type { Database as Sqlite } from 'bun:sqlite'
import { causeOf, type Log } from '../../../lib/log.ts'

/** Lets a new file shrink later; a file that has tables would need a `VACUUM`. */
export function enableAutoVacuum(sqlite: Sqlite): void {
  if (numberFrom(sqlite, 'PRAGMA page_count') === 0) sqlite.run('PRAGMA auto_vacuum = INCREMENTAL')
}

/** Rewrites a file that cannot shrink, once; logs a warning if that fails. Must not run in a transaction. */
export function convertToAutoVacuum(sqlite: Sqlite, log: Log): void {
  if (numberFrom(sqlite, 'PRAGMA auto_vacuum') !== 0) return
  try {
    sqlite.run('PRAGMA auto_vacuum = INCREMENTAL')
    sqlite.run('VACUUM')
    log.info('The database was rebuilt so that the space of deleted rows can be returned to the disk.')
  } catch (error) {
    log.warn('The database could not be rebuilt, so the space of deleted rows is not returned to the disk.', {
      cause: causeOf(error),
    })
  }
}

function numberFrom(sqlite: Sqlite, query: string): number {
  return Number(sqlite.prepare<unknown[], []>(query).values()[0]?.[0])
}
