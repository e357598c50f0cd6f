import type { Removal } from '../../ports/responses.ts'
import type { Database } from '../connection/database.ts'
import type { ResponseDeletion } from '../tables.ts'
import type { Writer } from '../writer/writer.ts'

/** The most rows and bytes that one transaction removes or erases, but for the last one: it may be larger. */
export const stepRows = 200
export const stepBytes = 4 * 1024 * 1024

/**
 * Parts of transactions that hide responses, and erase those that no response follows: each erasure goes up to the
 * deleted ones that now nobody follows. What a step does not reach, or is held, is due, and left to the next ones.
 */
export type Removals = {
  remove(organization: string, id: string): Removal
  /** Hides finished responses with lower ids, oldest first, and erases what is due; tells how many those were. */
  expire(beforeId: string): number
  /** Whether something is due that nobody holds. */
  due(): boolean
  /** Erases what is due. */
  erase(): void
}

export function prepareRemovals(database: Database, holds: Holds): Removals {
  const statements = prepareStatements(database)
  const climb = prepareClimb(database, holds)
  const due = (limit: number) => statements.due.all(JSON.stringify(holds.left()), limit)

  function remove(organization: string, id: string): Removal {
    const found = statements.find.get(id, organization)
    if (found === null) return 'missing'
    if (found.unfinished === 1) return 'running'
    climb(organization, id, newStep())
    return 'removed'
  }

  function eraseDue(step: Step): number {
    let count = 0
    for (const { id, organization } of due(stepRows)) {
      if (isOver(step)) break
      climb(organization, id, step)
      count++
    }
    return count
  }

  function expire(beforeId: string): number {
    const step = newStep()
    let count = eraseDue(step)
    while (!isOver(step)) {
      const oldest = statements.oldest.get(beforeId)
      if (oldest === null) break
      climb(oldest.organization, oldest.id, step)
      count++
    }
    return count
  }

  return {
    remove,
    expire,
    due: () => due(1).length > 0,
    erase() {
      eraseDue(newStep())
    },
  }
}

type Place = { readonly id: string; readonly organization: string }

/** What one transaction may still do. */
type Step = { rows: number; bytes: number }

function newStep(): Step {
  return { rows: stepRows, bytes: stepBytes }
}

function spend(step: Step, bytes: number): void {
  step.rows--
  step.bytes -= bytes
}

function isOver(step: Step): boolean {
  return step.rows <= 0 || step.bytes <= 0
}

/**
 * Erases a response that nobody follows, then the one that it followed, if that is deleted and nobody follows it any
 * more, and so on. One that is followed, or held, is hidden.
 */
function prepareClimb({ sqlite }: Database, holds: Holds) {
  const place = 'WHERE id = ?1 AND organization_id = ?2 AND (deletion IS NOT NULL OR id = ?3)'
  const erase = sqlite.prepare<Written & { readonly previous: string | null }, [string, string, string]>(
    `DELETE FROM responses ${place}
      AND NOT EXISTS (SELECT 1 FROM responses f WHERE f.organization_id = ?2 AND f.previous_id = ?1)
      RETURNING previous_id previous, ${size}`,
  )
  const mark = sqlite.prepare<Written, [string, string, string, ResponseDeletion]>(
    `UPDATE responses SET deletion = ?4 ${place} AND deletion IS NOT ?4 RETURNING ${size}`,
  )

  return (organization: string, removed: string, step: Step): void => {
    let next: string | null = removed
    while (next !== null && !isOver(step) && !holds.keeps(next)) {
      const erased = erase.get(next, organization, removed)
      const written = erased ?? mark.get(next, organization, removed, 'needed')
      spend(step, written?.bytes ?? 0)
      next = erased?.previous ?? null
    }
    if (next !== null) mark.get(next, organization, removed, 'due')
  }
}

type Written = { readonly bytes: number }

const size = 'octet_length(head) + octet_length(log) + octet_length(input) bytes'

function prepareStatements({ sqlite }: Database) {
  return {
    find: sqlite.prepare<{ readonly unfinished: number }, [string, string]>(
      "SELECT status IN ('queued', 'in_progress') unfinished FROM responses " +
        'WHERE id = ? AND organization_id = ? AND deletion IS NULL',
    ),
    oldest: sqlite.prepare<Place, [string]>(
      'SELECT organization_id organization, id FROM responses WHERE id < ? AND deletion IS NULL ' +
        "AND status IN ('completed', 'failed', 'incomplete') ORDER BY id LIMIT 1",
    ),
    due: sqlite.prepare<Place, [held: string, limit: number]>(
      "SELECT organization_id organization, id FROM responses WHERE deletion = 'due' " +
        'AND id NOT IN (SELECT value FROM json_each(?)) ORDER BY id LIMIT ?',
    ),
  }
}

/**
 * Erases in the background what removals have left, a step a transaction, so that requests come between them. What a
 * closed or a broken database does not erase is left to the next removal, or to the next start.
 */
export function createErasing(writer: Writer, removals: Removals): () => void {
  let erasing = false

  async function eraseAll(): Promise<void> {
    try {
      while (removals.due()) await writer.write(removals.erase)
    } catch {
      // Nobody waits for it, and nothing is lost.
    }
    erasing = false
  }

  return () => {
    if (erasing) return
    erasing = true
    void eraseAll()
  }
}

/** The responses that others are about to follow, in this process: one that is removed is not erased yet. */
export type Holds = {
  hold(id: string): void
  /** True where it was removed while it was held, and nobody holds it any more. */
  letGo(id: string): boolean
  /** Whether a removal has to leave it; then it is among those below until it is let go. */
  keeps(id: string): boolean
  /** The ids of those that removals had to leave. */
  left(): readonly string[]
}

export function createHolds(): Holds {
  const holders = new Map<string, number>()
  const left = new Set<string>()

  return {
    hold: (id) => void holders.set(id, (holders.get(id) ?? 0) + 1),
    letGo(id) {
      const others = (holders.get(id) ?? 0) - 1
      if (others > 0) {
        holders.set(id, others)
        return false
      }
      holders.delete(id)
      return left.delete(id)
    },
    keeps(id) {
      if (!holders.has(id)) return false
      left.add(id)
      return true
    },
    left: () => [...left],
  }
}
