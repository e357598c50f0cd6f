import { isExhausted, newStep, spend, type Step, stepRows } from '../../common/step-size.ts'
import type { Pins } from '../../common/pins.ts'
import type { RemovalResult } from '../../ports/responses.ts'
import type { Query } from '../connection/connections.ts'
import type { Transact } from '../writer/transaction.ts'
import { hide, isErasable } from './response-erasures.ts'

/**
 * Hides responses, and erases those that no response follows. Erasing a response also erases its deleted predecessors
 * that lose their last follower. Whatever exceeds the size of a step, or is pinned, is marked as due and left to later
 * steps; with a delay, so is every response that is hidden.
 */
export type Removals = {
  remove(organization: string, id: string): Promise<RemovalResult>
  /** Erases what is due, then removes finished responses with lower ids, oldest first; resolves with the number of both. */
  expire(beforeId: string): Promise<number>
  /** Does one step of erasing what is due; resolves with 0 if nothing is due that is not pinned. */
  eraseDue(): Promise<number>
}

export function createRemovals(transact: Transact, pins: Pins, delayMs: number): Removals {
  /** Removes a response that is not hidden yet. */
  async function removeWithin(query: Query, key: ResponseKey, step: Step): Promise<void> {
    if (delayMs === 0) return await eraseUpwards(query, pins, key, step)
    const [hidden] = await hide(query, key.organization, key.id, delayMs)
    spend(step, hidden?.bytes ?? 0)
  }

  async function eraseDueWithin(query: Query, step: Step): Promise<number> {
    let count = 0
    const due = await query<ResponseKey>(selectDue, [pins.removed(), stepRows])
    for (const { id, organization } of due) {
      if (isExhausted(step)) break
      await eraseUpwards(query, pins, { organization, id }, step)
      count++
    }
    return count
  }

  async function expireWithin(query: Query, beforeId: string): Promise<number> {
    const step = newStep()
    let count = await eraseDueWithin(query, step)
    while (!isExhausted(step)) {
      const [oldest] = await query<ResponseKey>(selectOldest, [beforeId])
      if (oldest === undefined) break
      await removeWithin(query, oldest, step)
      count++
    }
    return count
  }

  return {
    remove: (organization, id) =>
      transact(async (query) => {
        const [found] = await query<{ readonly unfinished: boolean }>(selectRemovable, [id, organization])
        if (found === undefined) return 'missing'
        if (found.unfinished) return 'running'
        await removeWithin(query, { organization, id }, newStep())
        return 'removed'
      }),
    expire: (beforeId) => transact((query) => expireWithin(query, beforeId)),
    eraseDue: () => transact((query) => eraseDueWithin(query, newStep())),
  }
}

type ResponseKey = { readonly id: string; readonly organization: string }

/**
 * Erases a response that has no follower, then its predecessor if that is deleted and has no other follower, and so on. A
 * response that is followed, or pinned, is hidden.
 */
async function eraseUpwards(
  query: Query,
  pins: Pins,
  { organization, id: removed }: ResponseKey,
  step: Step,
): Promise<void> {
  let next: string | null = removed
  while (next !== null && !isExhausted(step) && !pins.markRemoved(next)) {
    const [erased]: readonly ErasedRow[] = await query<ErasedRow>(erase, [next, organization, removed])
    const [changed] = erased
      ? [erased]
      : await query<ChangedRow>(mark, [next, organization, removed, 'needed'])
    spend(step, changed?.bytes ?? 0)
    next = erased?.previous ?? null
  }
  if (next !== null) await query(mark, [next, organization, removed, 'due'])
}

type ChangedRow = { readonly bytes: number }
type ErasedRow = ChangedRow & { readonly previous: string | null }

const size = 'octet_length(head) + octet_length(log) + octet_length(input) bytes'

const condition = `WHERE id = $1 AND organization_id = $2 AND (deletion IS NOT NULL OR id = $3) AND ${isErasable('$1')}`

const erase = `DELETE FROM responses ${condition}
  AND NOT EXISTS (SELECT 1 FROM responses f WHERE f.organization_id = $2 AND f.previous_id = $1)
  RETURNING previous_id previous, ${size}`

const mark = `UPDATE responses SET deletion = $4 ${condition} AND deletion IS DISTINCT FROM $4 RETURNING ${size}`

const selectRemovable = `SELECT status IN ('queued', 'in_progress') unfinished FROM responses
  WHERE id = $1 AND organization_id = $2 AND deletion IS NULL FOR UPDATE`

const selectOldest = `SELECT organization_id organization, id FROM responses WHERE id < $1 AND deletion IS NULL
  AND status IN ('completed', 'failed', 'incomplete') ORDER BY id LIMIT 1`

const selectDue = `SELECT organization_id organization, id FROM responses WHERE deletion = 'due'
  AND id <> ALL($1) AND ${isErasable('id')} ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED`
