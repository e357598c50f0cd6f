import type { Database as Sqlite } from 'bun:sqlite'
import { causeOf, type Log } from '../../../lib/log.ts'
import type { Database } from './database.ts'
import type { Writer } from '../writer/writer.ts'

/** Pages that one step gives back: it holds up the requests of its turn. */
const stepSize = 250

/** What a file may keep free, for rows to come: pages, and the part of the whole. */
const keptPages = 1000
const keptPart = 0.1

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

/** A small step that gives free space back to the disk, where there is much of it; tells how many pages. */
export function createSpaceReturn({ sqlite }: Database, writer: Writer): () => Promise<number> {
  const [free, all, give] = [
    sqlite.prepare<unknown[], []>('PRAGMA freelist_count'),
    sqlite.prepare<unknown[], []>('PRAGMA page_count'),
    // Each row that is read of it is one page.
    sqlite.prepare(`PRAGMA incremental_vacuum(${stepSize})`),
  ]
  const count = (statement: typeof free) => Number(statement.values()[0]?.[0])

  function giveBack(): number {
    const before = count(free)
    if (before <= keptPages || before <= count(all) * keptPart) return 0
    give.all()
    return before - count(free)
  }

  return () => writer.write(giveBack)
}

function numberFrom(sqlite: Sqlite, query: string): number {
  return Number(sqlite.prepare<unknown[], []>(query).values()[0]?.[0])
}
