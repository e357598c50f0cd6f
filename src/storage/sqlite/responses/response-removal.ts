import type { RemovalResult } from '../../ports/responses.ts'
import type { Database } from '../connection/database.ts'
import { isExhausted, newStep, spend, type Step, stepRows } from '../../common/step-size.ts'
import type { Pins } from '../../common/pins.ts'
import type { ResponseDeletion } from '../../schema/stored.ts'

/**
 * Parts of transactions that hide responses, and erase those that no response follows. Erasing a response also erases its
 * deleted predecessors that lose their last follower. Whatever exceeds the size of a step, or is pinned, is marked as due
 * and left to later steps.
 */
export type Removals = {
  remove(organization: string, id: string): RemovalResult
  /** Erases what is due, then removes finished responses with lower ids, oldest first; returns the number of both. */
  expire(beforeId: string): number
  /** Whether a response is due and not pinned. */
  hasDue(): boolean
  /** Does one step of erasing what is due, and returns the number of responses. */
  eraseDue(): number
}

export function prepareRemovals(database: Database, pins: Pins): Removals {
  const statements = prepareStatements(database)
  const eraseUpwards = prepareEraseUpwards(database, pins)
  const selectDue = (limit: number) => statements.due.all(JSON.stringify(pins.removed()), limit)

  function remove(organization: string, id: string): RemovalResult {
    const found = statements.find.get(id, organization)
    if (found === null) return 'missing'
    if (found.unfinished === 1) return 'running'
    eraseUpwards(organization, id, newStep())
    return 'removed'
  }

  function eraseDueWithin(step: Step): number {
    let count = 0
    for (const { id, organization } of selectDue(stepRows)) {
      if (isExhausted(step)) break
      eraseUpwards(organization, id, step)
      count++
    }
    return count
  }

  function expire(beforeId: string): number {
    const step = newStep()
    let count = eraseDueWithin(step)
    while (!isExhausted(step)) {
      const oldest = statements.oldest.get(beforeId)
      if (oldest === null) break
      eraseUpwards(oldest.organization, oldest.id, step)
      count++
    }
    return count
  }

  return {
    remove,
    expire,
    hasDue: () => selectDue(1).length > 0,
    eraseDue: () => eraseDueWithin(newStep()),
  }
}

type ResponseKey = { readonly id: string; readonly organization: string }

/**
 * Erases a response that has no follower, then its predecessor if that is deleted and has no other follower, and so on. A
 * response that is followed, or pinned, is hidden.
 */
function prepareEraseUpwards({ sqlite }: Database, pins: Pins) {
  const condition = `WHERE id = ?1 AND organization_id = ?2 AND (deletion IS NOT NULL OR id = ?3)`
  const erase = sqlite.prepare<ChangedRow & { readonly previous: string | null }, [string, string, string]>(
    `DELETE FROM responses ${condition}
      AND NOT EXISTS (SELECT 1 FROM responses f WHERE f.organization_id = ?2 AND f.previous_id = ?1)
      RETURNING previous_id previous, ${size}`,
  )
  const mark = sqlite.prepare<ChangedRow, [string, string, string, ResponseDeletion]>(
    `UPDATE responses SET deletion = ?4 ${condition} AND deletion IS NOT ?4 RETURNING ${size}`,
  )

  return (organization: string, removed: string, step: Step): void => {
    let next: string | null = removed
    while (next !== null && !isExhausted(step) && !pins.markRemoved(next)) {
      const erased = erase.get(next, organization, removed)
      const changed = erased ?? mark.get(next, organization, removed, 'needed')
      spend(step, changed?.bytes ?? 0)
      next = erased?.previous ?? null
    }
    if (next !== null) mark.get(next, organization, removed, 'due')
  }
}

type ChangedRow = { readonly bytes: number }

const size = 'octet_length(head) + octet_length(log) + octet_length(input) bytes'

function prepareStatements({ sqlite }: Database) {
  return {
    find: sqlite.prepare<{ readonly unfinished: number }, [string, string]>(
      "SELECT status IN ('queued', 'in_progress') unfinished FROM responses " +
        'WHERE id = ? AND organization_id = ? AND deletion IS NULL',
    ),
    oldest: sqlite.prepare<ResponseKey, [string]>(
      'SELECT organization_id organization, id FROM responses WHERE id < ? AND deletion IS NULL ' +
        "AND status IN ('completed', 'failed', 'incomplete') ORDER BY id LIMIT 1",
    ),
    due: sqlite.prepare<ResponseKey, [pinned: string, limit: number]>(
      "SELECT organization_id organization, id FROM responses WHERE deletion = 'due' " +
        'AND id NOT IN (SELECT value FROM json_each(?)) ORDER BY id LIMIT ?',
    ),
  }
}
