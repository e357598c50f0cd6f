import type { RequestMetadata } from '../../domain/accounting/request-metadata.ts'
import type { SubtractDeleted } from '../scripts/usage-expiry.ts'
import { addLateRow } from '../scripts/usage-blocks.ts'
import type { TimeRange } from '../usage/reports.ts'
import { ownerExistsSql, totalsLagMs, widthsMs } from '../usage/slices.ts'
import { allStarts } from '../usage/sums.ts'
import { applySlices } from './apply-slices.ts'
import type { Database } from './connection/database.ts'
import { read } from './sqlite-errors.ts'
import { slicesOf } from './usage-slices.ts'
import { addOlderToSums, type ChangedRows, changeSums, selectUntil } from './usage-sums.ts'
import type { Writer } from './writer.ts'

/**
 * Part of a transaction: adds a row that was just inserted to the totals, if these already cover the time of its creation. All
 * rows that were created before `usage_rollup.until` are part of them, and no others; a deleted organization has no totals.
 */
export function addInserted(
  database: Database,
  { id, createdAt }: Pick<RequestMetadata, 'id' | 'createdAt'>,
): void {
  if (createdAt >= untilOf(database)) return
  changeTotals(database, { condition: 'created_at = ?2 AND usage.id = ?3', values: [createdAt, id] }, 1)
  database.run(addLateRow(createdAt, id))
}

/** See `SubtractDeleted`. */
export function createSubtractDeleted(database: Database): SubtractDeleted {
  return function* subtractDeleted(lastCreatedAt, lastId) {
    const [rollup] = yield* selectUntil()
    const condition = '(created_at, usage.id) <= (?2, ?3) AND created_at < ?4'
    changeTotals(database, { condition, values: [lastCreatedAt, lastId, rollup?.until ?? 0] }, -1)
  }
}

/** Part of a transaction: adds rows to the totals and the sums, or subtracts them; returns the number of slices. */
function changeTotals(database: Database, rows: ChangedRows, sign: 1 | -1): number {
  const condition = `${rows.condition} AND ${ownerExistsSql}`
  const slices = slicesOf(database, { ...rows, condition, widthMs: widthsMs.hour })
  applySlices(database, slices, sign, { table: 'usage_totals', widths: ['hour', 'day'] })
  changeSums(database, rows, sign)
  return slices.length
}

/** The rows that one step adds to the totals: some 5 milliseconds, and 30 to 60 where each belongs to other totals. */
const defaultStepRows = 200

/** Adds usage rows to the totals in steps of so many rows; a step resolves with 0 if no more are due. */
export function createRollup(database: Database, writer: Writer, stepRows = defaultStepRows) {
  function addNow(limit: number): number {
    const until = untilOf(database)
    const last = timeOfRow(database, { from: until, to: limit }, stepRows - 1)
    const end = last === undefined ? limit : last + 1
    const rows = { condition: 'created_at >= ?2 AND created_at < ?3', values: [until, end] }
    const slices = changeTotals(database, rows, 1)
    database.prepared('UPDATE usage_rollup SET until = ?').run(end)
    // Rows of deleted organizations are skipped, and may be followed by others.
    return last === undefined ? slices : stepRows
  }

  return async function rollUp(): Promise<number> {
    const limit = Date.now() - totalsLagMs
    let older = 0
    for (const start of allStarts) older += await addOlderToSums(database, writer, start, stepRows)
    const first = await read(() => timeOfRow(database, { from: untilOf(database), to: limit }, 0))
    const add = () => addNow(limit)
    // After a power cut, the totals and the time that they cover are both those of before.
    return older + (first === undefined ? 0 : await writer.write(add, () => false))
  }
}

/** The time before which all rows are part of the totals. */
export function untilOf({ prepared }: Database): number {
  return prepared<{ readonly until: number }>('SELECT until FROM usage_rollup').get()?.until ?? 0
}

/** When the row at this place of a range was created; undefined if there are fewer rows. */
export function timeOfRow(
  { prepared }: Database,
  { from, to }: TimeRange,
  index: number,
): number | undefined {
  const row = prepared<{ readonly created_at: number }>(
    'SELECT created_at FROM usage WHERE created_at >= ? AND created_at < ? ORDER BY created_at, id LIMIT 1 OFFSET ?',
  )
  return row.get(from, to, index)?.created_at
}
