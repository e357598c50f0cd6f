import type { Database } from '../connection/database.ts'
import { oneStep, stepRows } from '../step-size.ts'

/** Part of a transaction: deletes some of the usage of requests made before this moment, and returns how much. */
export function prepareUsageExpiry({ sqlite }: Database): (before: number) => number {
  const oldest = sqlite.prepare<Candidate, [number, number]>(
    `SELECT created_at, id, ${usageBytes} bytes FROM usage WHERE created_at < ? ORDER BY created_at, id LIMIT ?`,
  )
  const remove = sqlite.prepare<unknown, [number, string]>(
    'DELETE FROM usage WHERE (created_at, id) <= (?, ?)',
  )
  return (before) => {
    const expired = oneStep(oldest.all(before, stepRows))
    const last = expired.at(-1)
    if (last !== undefined) remove.run(last.created_at, last.id)
    return expired.length
  }
}

/** SQL for the bytes of a row of `usage` that a caller has chosen: older rows may hold any number. */
export const usageBytes =
  'coalesce(octet_length(user), 0) + coalesce(octet_length(tags), 0) + coalesce(octet_length(trace), 0)'

type Candidate = { readonly created_at: number; readonly id: string; readonly bytes: number }
