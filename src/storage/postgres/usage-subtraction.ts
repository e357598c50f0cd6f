import { sql } from 'drizzle-orm'
import { execute, type RowKey, type Script } from '../statement.ts'
import { allStarts } from '../usage/sums.ts'
import { subtractFromTotals } from './usage-totals.ts'

/** SQL that is true for a row of `usage` that was recorded late, and is not part of the totals yet. */
export const isLateSql =
  'EXISTS (SELECT 1 FROM usage_late l WHERE l.created_at = usage.created_at AND l.id = usage.id)'
export const isLate = sql.raw(isLateSql)

const isCounted = sql`usage.created_at < (SELECT until FROM usage_rollup) AND NOT ${isLate}`

/** See `SubtractDeleted`. */
export function* subtractDeleted(lastCreatedAt: number, lastId: string): Script<void> {
  const last = keyOf({ time: lastCreatedAt, id: lastId })
  yield* subtractFromTotals(sql`(usage.created_at, usage.id) <= ${last} AND ${isCounted}`)
  yield* execute(() => sql`DELETE FROM usage_late WHERE (created_at, id) <= ${last}`)
}

/** See `SubtractSums`. */
export function* subtractSums(organization: string, after: RowKey, end: RowKey): Script<void> {
  const condition = sql`(usage.created_at, usage.id) > ${keyOf(after)}
    AND (usage.created_at, usage.id) <= ${keyOf(end)} AND usage.organization_id = ${organization} AND ${isCounted}`
  yield* subtractFromTotals(condition, allStarts)
}

function keyOf({ time, id }: RowKey) {
  return sql`(${time}::bigint, ${id})`
}
