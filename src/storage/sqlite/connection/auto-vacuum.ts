import type { Database as Sqlite } from 'bun:sqlite'
import { causeOf, type Log } from '../../../lib/log.ts'

/** Lets a file that has no table yet become smaller again; in one that has, this would take a `VACUUM`. */
export function keepShrinkable(sqlite: Sqlite): void {
  if (numberFrom(sqlite, 'PRAGMA page_count') === 0) sqlite.run('PRAGMA auto_vacuum = INCREMENTAL')
}

/** Rewrites a file that cannot become smaller, once; where that fails it stays as it is. Not in a transaction. */
export function makeShrinkable(sqlite: Sqlite, log: Log): void {
  if (numberFrom(sqlite, 'PRAGMA auto_vacuum') !== 0) return
  try {
    sqlite.run('PRAGMA auto_vacuum = INCREMENTAL')
    sqlite.run('VACUUM')
    log.info('The database was rewritten, to give back the space of what is deleted from now on.')
  } catch (error) {
    log.warn('The database keeps the space of what is deleted.', { cause: causeOf(error) })
  }
}

function numberFrom(sqlite: Sqlite, query: string): number {
  return Number(sqlite.prepare<unknown[], []>(query).values()[0]?.[0])
}
