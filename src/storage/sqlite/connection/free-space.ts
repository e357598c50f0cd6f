import type { Database } from './database.ts'
import type { Writer } from '../writer/writer.ts'

/** Pages that one step gives back: it holds up the requests of its turn. */
const stepSize = 250

/** What a file may keep free, for rows to come: pages, and the part of the whole. */
const keptPages = 1000
const keptPart = 0.1

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
