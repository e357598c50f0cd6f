import { sql } from 'drizzle-orm'
import { totalsLagMs } from '../usage/slices.ts'
import { addLateRow } from '../scripts/usage-blocks.ts'
import type { Query } from './connection/connections.ts'
import type { Database } from './connection/database.ts'
import { migrations } from './connection/migrate.ts'
import { runScript } from './run-script.ts'
import { lockOutRecording, tryLockTotals } from './usage-locks.ts'
import { allStarts, type SumsStart } from '../usage/sums.ts'
import { addToTotals, isLate } from './usage-totals.ts'

/** The rows that one step adds to the totals. */
const defaultStepRows = 2000

/**
 * Adds usage rows to the totals in steps; a step resolves with 0 if no more are due, or if another process does the same.
 *
 * First `fence` is moved, while no transaction inserts rows: which rows before it are not late is certain from then on,
 * although others may still be recorded. Then these are added, and at last those that came late.
 */
export function createRollup(
  { query, transact }: Pick<Database, 'query' | 'transact'>,
  stepRows = defaultStepRows,
): () => Promise<number> {
  return async () => {
    const [due] = await query<Due>(selectDue)
    if (due === undefined) return 0
    let older = 0
    if (due.older)
      for (const start of allStarts)
        older += await transact((query) => addOlderToSums(query, start, stepRows))
    if (!(due.rows || due.late || due.beyond)) return older
    if (!due.rows && due.beyond) await transact(moveFence)
    return older + (await transact((query) => addStep(query, stepRows)))
  }
}

/**
 * Whether there are rows to add before the fence, late rows to add, and rows that can be added after it is moved; and
 * whether there are rows to add to the sums only.
 */
type Due = Readonly<Record<'rows' | 'late' | 'beyond' | 'older', boolean>>

const now = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint'

/** Of each range, only the first row is read, from the index: EXISTS would let the server read the whole table instead. */
const selectDue = `SELECT coalesce(${firstSince('usage', 'r.until')} < r.fence, false) AS rows,
    coalesce(${firstSince('usage_late', '0')} < r.until, false) AS late,
    coalesce(${firstSince('usage', 'r.fence')} < ${now} - ${totalsLagMs}, false) AS beyond,
    greatest(${allStarts.map((start) => `r.${start}`).join()}) > 0 AND NOT EXISTS (SELECT 1 FROM processes WHERE coalesce(schema, 0) < ${migrations.length}) AS older
  FROM usage_rollup r`

function firstSince(table: 'usage' | 'usage_late', time: string): string {
  return `(SELECT min(created_at) FROM ${table} WHERE created_at >= ${time})`
}

async function moveFence(query: Query): Promise<void> {
  await lockOutRecording(query)
  await query(`UPDATE usage_rollup SET fence = greatest(fence, ${now} - ${totalsLagMs})`)
}

async function addStep(query: Query, stepRows: number): Promise<number> {
  if (!(await tryLockTotals(query))) return 0
  const [found] = await query<{ readonly until: number; readonly upTo: number; readonly rows: number }>(
    selectStep(stepRows),
  )
  if (found === undefined) return 0
  const { until, upTo, rows } = found
  if (rows > 0) {
    const condition = sql`usage.created_at >= ${until} AND usage.created_at < ${upTo} AND NOT ${isLate}`
    await runScript(query, addToTotals(condition))
  }
  if (upTo > until) await query('UPDATE usage_rollup SET until = $1', [upTo])
  return rows + (await addLate(query, upTo, stepRows))
}

/** Selects the time up to which one step adds rows, and their number. */
const selectStep = (stepRows: number) => `SELECT r.until, coalesce(last.created_at + 1, r.fence) AS "upTo",
    (SELECT count(*) FROM usage
      WHERE created_at >= r.until AND created_at < coalesce(last.created_at + 1, r.fence)) AS rows
  FROM usage_rollup r LEFT JOIN LATERAL (
    SELECT created_at FROM usage WHERE created_at >= r.until AND created_at < r.fence
    ORDER BY created_at, id LIMIT 1 OFFSET ${stepRows - 1}) last ON true`

/**
 * Adds the rows that the totals had before there were sums, from the newest to the oldest. It begins when no process is left
 * that changes the totals alone; until then, no row is recent enough to be part of the sums.
 */
async function addOlderToSums(query: Query, column: SumsStart, stepRows: number): Promise<number> {
  if (!(await tryLockTotals(query))) return 0
  await query(`UPDATE usage_rollup SET ${column} = least(${column}, until)`)
  const [found] = await query<{ readonly from: number; readonly until: number }>(
    selectOlder(column, stepRows),
  )
  if (found === undefined) return 0
  const { from, until } = found
  await query(`UPDATE usage_rollup SET ${column} = $1`, [from])
  const condition = sql`usage.created_at >= ${from} AND usage.created_at < ${until} AND NOT ${isLate}`
  await runScript(query, addToTotals(condition, [column]))
  return stepRows
}

function selectOlder(column: SumsStart, stepRows: number): string {
  return `SELECT ${column} AS until, coalesce((SELECT created_at FROM usage
      WHERE created_at < ${column} ORDER BY created_at DESC, id DESC LIMIT 1 OFFSET ${stepRows - 1}), 0) AS "from"
    FROM usage_rollup WHERE ${column} > 0`
}

async function addLate(query: Query, until: number, stepRows: number): Promise<number> {
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
