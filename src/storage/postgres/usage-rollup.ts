import { totalsLagMs } from '../usage/slices.ts'
import type { Query } from './connection/connections.ts'
import { lockOutRecording, lockTotals, tryLockTotals } from './usage-locks.ts'
import type { Database } from './connection/database.ts'
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
    const condition = `usage.created_at >= $1 AND usage.created_at < $2 AND NOT ${isLateSql}`
    await addToTotals(query, { condition, values: [until, upTo] })
  }
  if (upTo > until) await query('UPDATE usage_rollup SET until = $1', [upTo])
  return rows + (await addLate(query, upTo))
}

/** SQL that is true for rows of `usage` that were recorded late. */
const isLateSql =
  'EXISTS (SELECT 1 FROM usage_late l WHERE l.created_at = usage.created_at AND l.id = usage.id)'

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
  await addToTotals(query, {
    condition: '(usage.created_at, usage.id) IN (SELECT unnest($1::bigint[]), unnest($2::text[]))',
    values: [late.map((row) => row.created_at), late.map((row) => row.id)],
  })
  return late.length
}

/** Part of a transaction: subtracts the rows up to this one, which the same transaction is about to delete. */
export async function subtractDeleted(query: Query, lastCreatedAt: number, lastId: string): Promise<void> {
  await lockTotals(query)
  const condition = `(usage.created_at, usage.id) <= ($1::bigint, $2)
    AND usage.created_at < (SELECT until FROM usage_rollup) AND NOT ${isLateSql}`
  await subtractFromTotals(query, { condition, values: [lastCreatedAt, lastId] })
  await query('DELETE FROM usage_late WHERE (created_at, id) <= ($1::bigint, $2)', [lastCreatedAt, lastId])
}

/** The totals that one step deletes. */
const deletedTotals = 1000

/**
 * Deletes some of the totals of an organization whose deletion has begun, and resolves with their number: 0 if none are
 * left. No others are added later, because each step looks for the organization while it has the totals locked.
 */
export function deleteTotals(
  { transact }: Pick<Database, 'transact'>,
  organization: string,
): Promise<number> {
  return transact(async (query) => {
    await lockTotals(query)
    const deleted = await query(
      `DELETE FROM usage_totals WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM usage_totals WHERE organization_id = $1 LIMIT ${deletedTotals})) RETURNING 1`,
      [organization],
    )
    return deleted.length
  })
}
