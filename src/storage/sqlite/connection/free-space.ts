import type { Database } from './database.ts'
import type { Writer } from '../writer/writer.ts'

/** The pages that one step returns; a step is small, because it delays requests. */
const stepPages = 250

/** The free pages that a file keeps for new rows: at least this many, and this share of all pages. */
const minFreePages = 1000
const minFreeShare = 0.1

/** Returns a function that does a small step of returning free space to the disk, and resolves with its pages. */
export function createSpaceReturn({ sqlite }: Database, writer: Writer): () => Promise<number> {
  const [free, all, vacuum] = [
    sqlite.prepare<unknown[], []>('PRAGMA freelist_count'),
    sqlite.prepare<unknown[], []>('PRAGMA page_count'),
    // Each row that is read returns one page.
    sqlite.prepare(`PRAGMA incremental_vacuum(${stepPages})`),
  ]
  const count = (statement: typeof free) => Number(statement.values()[0]?.[0])

  function vacuumStep(): number {
    const before = count(free)
    if (before <= minFreePages || before <= count(all) * minFreeShare) return 0
    vacuum.all()
    return before - count(free)
  }

  return () => writer.write(vacuumStep)
}
