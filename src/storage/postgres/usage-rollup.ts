import { sql } from 'drizzle-orm'
import { execute, type Script } from '../statement.ts'
import { totalsLagMs } from '../usage/slices.ts'
import { addLateRow } from '../scripts/usage-blocks.ts'
import type { Query } from './connection/connections.ts'
import type { Database } from './connection/database.ts'
import { runScript } from './run-script.ts'
import { lockOutRecording, tryLockTotals } from './usage-locks.ts'
import { addToTotals, subtractFromTotals } from './usage-totals.ts'

/** The rows that one step adds to the totals. */
const stepRows = 2000

/**
 * Adds usage rows to the totals in steps; a step resolves with 0 if no more are due, or if another process does the same.
 *
 * First `fence` is moved, while no transaction inserts rows: which rows before it are not late is certain from then on,
 * although others may still be recorded. Then these are added, and at last those that came late.
 */
export function createRollup({
  query,
  transact,
}: Pick<Database, 'query' | 'transact'>): () => Promise<number> {
  return async () => {
    const [due] = await query<Due>(selectDue)
    if (due === undefined || !(due.rows || due.late || due.beyond)) return 0
    if (!due.rows && due.beyond) await transact(moveFence)
    return await transact(addStep)
  }
}

/** Whether there are rows to add before the fence, late rows to add, and rows that can be added after it is moved. */
type Due = { readonly rows: boolean; readonly late: boolean; readonly beyond: boolean }

const now = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint'

/** Of each range, only the first row is read, from the index: EXISTS would let the server read the whole table instead. */
const selectDue = `SELECT coalesce(${firstSince('usage', 'r.until')} < r.fence, false) AS rows,
    coalesce(${firstSince('usage_late', '0')} < r.until, false) AS late,
    coalesce(${firstSince('usage', 'r.fence')} < ${now} - ${totalsLagMs}, false) AS beyond
  FROM usage_rollup r`

function firstSince(table: 'usage' | 'usage_late', time: string): string {
  return `(SELECT min(created_at) FROM ${table} WHERE created_at >= ${time})`
}

async function moveFence(query: Query): Promise<void> {
  await lockOutRecording(query)
  await query(`UPDATE usage_rollup SET fence = greatest(fence, ${now} - ${totalsLagMs})`)
}

async function addStep(query: Query): Promise<number> {
  if (!(await tryLockTotals(query))) return 0
  const [found] = await query<{ readonly until: number; readonly upTo: number; readonly rows: number }>(
    selectStep,
  )
  if (found === undefined) return 0
  const { until, upTo, rows } = found
  if (rows > 0) {
    const condition = sql`usage.created_at >= ${until} AND usage.created_at < ${upTo} AND NOT ${isLate}`
    await runScript(query, addToTotals(condition))
  }
  if (upTo > until) await query('UPDATE usage_rollup SET until = $1', [upTo])
  return rows + (await addLate(query, upTo))
}

/** Whether a row of `usage` was recorded late. */
const isLate = sql`EXISTS (SELECT 1 FROM usage_late l WHERE l.created_at = usage.created_at AND l.id = usage.id)`

/** The time up to which one step adds rows, and their number. */
const selectStep = `SELECT r.until, coalesce(last.created_at + 1, r.fence) AS "upTo",
    (SELECT count(*) FROM usage
      WHERE created_at >= r.until AND created_at < coalesce(last.created_at + 1, r.fence)) AS rows
  FROM usage_rollup r LEFT JOIN LATERAL (
    SELECT created_at FROM usage WHERE created_at >= r.until AND created_at < r.fence
    ORDER BY created_at, id LIMIT 1 OFFSET ${stepRows - 1}) last ON true`

async function addLate(query: Query, until: number): Promise<number> {
  const late = await query<{ readonly created_at: number; readonly id: string }>(
    `DELETE FROM usage_late WHERE (created_at, id) IN (
      SELECT created_at, id FROM usage_late WHERE created_at < $1 ORDER BY created_at, id LIMIT ${stepRows})
    RETURNING created_at, id`,
    [until],
  )
  if (late.length === 0) return 0
  const times = sql.param(late.map((row) => row.created_at))
  const ids = sql.param(late.map((row) => row.id))
  const condition = sql`(usage.created_at, usage.id) IN (SELECT unnest(${times}::bigint[]), unnest(${ids}::text[]))`
  await runScript(query, addToTotals(condition))
  for (const row of late) await runScript(query, addLateRow(row.created_at, row.id))
  return late.length
}

/** See `SubtractDeleted`. */
export function* subtractDeleted(lastCreatedAt: number, lastId: string): Script<void> {
  const last = sql`(${lastCreatedAt}::bigint, ${lastId})`
  const isCounted = sql`usage.created_at < (SELECT until FROM usage_rollup) AND NOT ${isLate}`
  yield* subtractFromTotals(sql`(usage.created_at, usage.id) <= ${last} AND ${isCounted}`)
  yield* execute(() => sql`DELETE FROM usage_late WHERE (created_at, id) <= ${last}`)
}
