import { sql } from 'drizzle-orm'
import { usage_rollup } from '../schema/usage.ts'
import { select } from '../sql.ts'
import { statement, type SubtractSums } from '../statement.ts'
import { widthsMs } from '../usage/slices.ts'
import {
  isNamed,
  allStarts,
  isSummedSql,
  levelsFrom,
  namedColumns,
  sumsLevels,
  type SumsStart,
  tableOf,
} from '../usage/sums.ts'
import { applySlices } from './apply-slices.ts'
import type { Database } from './connection/database.ts'
import { read } from './sqlite-errors.ts'
import { type SlicedRows, slicesOf } from './usage-slices.ts'
import type { Writer } from './writer.ts'

/** Rows of `usage` that are added to totals, or subtracted. */
export type ChangedRows = Pick<SlicedRows, 'condition' | 'values'>

/**
 * Part of a transaction that changes totals: adds rows to the sums that begin at one of these times, or subtracts them if
 * `sign` is -1.
 */
export function changeSums(
  database: Database,
  { condition, values }: ChangedRows,
  sign: 1 | -1,
  starts = allStarts,
): void {
  for (const level of starts.flatMap(levelsFrom)) {
    const { by, named, widths, start } = sumsLevels[level]
    const rows = { condition: `${condition} AND ${isSummedSql(start)}`, values, widthMs: widthsMs[widths[0]] }
    const slices = slicesOf(database, { ...rows, by, named: named && namedColumns[named] })
    const table = tableOf(level)
    applySlices(database, slices, sign, { table, widths, level: isNamed(level) ? level : undefined })
  }
}

/** See `SubtractSums`. */
export function createSubtractSums(database: Database): SubtractSums {
  return function* subtractSums(organization, after, end) {
    const [rollup] = yield* selectUntil()
    const condition = `(created_at, usage.id) > (?2, ?3) AND (created_at, usage.id) <= (?4, ?5)
      AND organization_id = ?6 AND created_at < ?7`
    const values = [after.time, after.id, end.time, end.id, organization, rollup?.until ?? 0]
    changeSums(database, { condition, values }, -1)
  }
}

/** Selects the time before which all rows are part of the totals. */
export const selectUntil = statement(() => select({ until: usage_rollup.until }, sql`from ${usage_rollup}`))

/**
 * Adds some of the rows that the totals had before there were these sums, from the newest to the oldest; resolves with 0 if there
 * are none.
 */
export async function addOlderToSums(
  database: Database,
  writer: Writer,
  from: SumsStart,
  stepRows: number,
): Promise<number> {
  const { prepared } = database
  const summedFrom = () =>
    prepared<{ readonly time: number }>(`SELECT ${from} time FROM usage_rollup WHERE ${from} > 0`).get()

  function addNow(): number {
    const until = summedFrom()?.time ?? 0
    const start = prepared<{ readonly time: number }>(selectFirst).get(until, stepRows - 1)?.time ?? 0
    prepared(`UPDATE usage_rollup SET ${from} = ?`).run(start)
    changeSums(database, { condition: 'created_at >= ?2 AND created_at < ?3', values: [start, until] }, 1, [
      from,
    ])
    return until > 0 ? stepRows : 0
  }

  return (await read(summedFrom)) === null ? 0 : await writer.write(addNow, () => false)
}

const selectFirst =
  'SELECT created_at time FROM usage WHERE created_at < ? ORDER BY created_at DESC, id DESC LIMIT 1 OFFSET ?'
