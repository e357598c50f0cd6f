import { serverTime } from '../connection/clock.ts'
import type { Query } from '../connection/connections.ts'

/** SQL that is true if the response with this id may be erased by now. */
export function isErasable(id: string): string {
  return `NOT EXISTS (SELECT FROM response_erasures e WHERE e.response_id = ${id} AND e.not_before > ${serverTime})`
}

/**
 * Hides a response that may be erased after the delay, unless another process postpones that: it may be about to store a
 * response that follows. Returns a row with its bytes.
 */
export function hide(
  query: Query,
  organization: string,
  id: string,
  delayMs: number,
): Promise<readonly { readonly bytes: number }[]> {
  return query(hideSql, [id, organization, delayMs])
}

const hideSql = `WITH hidden AS (
    UPDATE responses SET deletion = 'due' WHERE id = $1 AND organization_id = $2 AND deletion IS NULL
    RETURNING id, octet_length(head) + octet_length(log) + octet_length(input) bytes),
  postponed AS (
    INSERT INTO response_erasures (response_id, not_before) SELECT id, ${serverTime} + $3 FROM hidden
    ON CONFLICT (response_id) DO UPDATE SET not_before = excluded.not_before)
  SELECT bytes FROM hidden`

/** Postpones the erasure of those of the responses that are hidden. */
export async function postpone(query: Query, ids: readonly string[], delayMs: number): Promise<void> {
  if (ids.length === 0 || delayMs === 0) return
  await query(`UPDATE response_erasures SET not_before = ${serverTime} + $2 WHERE response_id = ANY($1)`, [
    ids,
    delayMs,
  ])
}

/** Whether anything is to be erased, now or later. */
export async function hasDue(query: Query): Promise<boolean> {
  return (await query("SELECT 1 FROM responses WHERE deletion = 'due' LIMIT 1")).length > 0
}
