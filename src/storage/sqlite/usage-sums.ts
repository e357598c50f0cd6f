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
import { prepareApplySlices } from './apply-slices.ts'
import type { Database } from './connection/database.ts'
import { read } from './sqlite-errors.ts'
import { prepareSlices, type SlicedRows } from './usage-slices.ts'
import type { Writer } from './writer.ts'

/** Rows of `usage` that are added to totals, or subtracted. */
export type ChangedRows = Pick<SlicedRows, 'condition' | 'values'>

/** Part of a transaction that changes totals: adds rows to the sums, or subtracts them if `sign` is -1. */
export type ChangeSums = (rows: ChangedRows, sign: 1 | -1) => void

/** Changes the sums that begin at one of these times. */
export function prepareChangeSums(database: Database, starts = allStarts): ChangeSums {
  const slices = prepareSlices(database)
  const changes = [...Map.groupBy(starts.flatMap(levelsFrom), tableOf)].flatMap(([table, levels]) => {
    const apply = prepareApplySlices(database, table)
    return levels.map((level) => ({ condition, values }: ChangedRows, sign: 1 | -1) => {
      const { by, named, widths, start } = sumsLevels[level]
      const rows = { condition: `${condition} AND ${isSummedSql(start)}`, values }
      const found = slices({ ...rows, by, named: named && namedColumns[named], widthMs: widthsMs[widths[0]] })
      apply(found, sign, widths, isNamed(level) ? level : undefined)
    })
  })
  return (rows, sign) => changes.forEach((change) => change(rows, sign))
}

/** See `SubtractSums`. */
export function prepareSubtractSums(database: Database): SubtractSums {
  const change = prepareChangeSums(database)
  return function* subtractSums(organization, after, end) {
    const [rollup] = yield* selectUntil()
    const condition = `(created_at, usage.id) > (?2, ?3) AND (created_at, usage.id) <= (?4, ?5)
      AND organization_id = ?6 AND created_at < ?7`
    const values = [after.time, after.id, end.time, end.id, organization, rollup?.until ?? 0]
    change({ condition, values }, -1)
  }
}

/** Selects the time before which all rows are part of the totals. */
export const selectUntil = statement(() => select({ until: usage_rollup.until }, sql`from ${usage_rollup}`))

/**
 * Adds the rows that the totals had before there were these sums, from the newest to the oldest; a step resolves with 0 if there
 * are none.
 */
export function createOlderSums(
  database: Database,
  writer: Writer,
  from: SumsStart,
  stepRows: number,
): () => Promise<number> {
  const { sqlite } = database
  const change = prepareChangeSums(database, [from])
  const summedFrom = sqlite.prepare<{ readonly time: number }, []>(
    `SELECT ${from} time FROM usage_rollup WHERE ${from} > 0`,
  )
  const first = sqlite.prepare<{ readonly time: number }, [number, number]>(
    'SELECT created_at time FROM usage WHERE created_at < ? ORDER BY created_at DESC, id DESC LIMIT 1 OFFSET ?',
  )
  const setFrom = sqlite.prepare<unknown, [number]>(`UPDATE usage_rollup SET ${from} = ?`)

  function addNow(): number {
    const until = summedFrom.get()?.time ?? 0
    const start = first.get(until, stepRows - 1)?.time ?? 0
    setFrom.run(start)
    change({ condition: 'created_at >= ?2 AND created_at < ?3', values: [start, until] }, 1)
    return until > 0 ? stepRows : 0
  }

  return async () => ((await read(() => summedFrom.get())) === null ? 0 : writer.write(addNow, () => false))
}
