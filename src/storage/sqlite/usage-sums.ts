import { sql } from 'drizzle-orm'
import { usage_rollup } from '../schema/usage.ts'
import { select } from '../sql.ts'
import { statement, type SubtractSums } from '../statement.ts'
import { widthsMs } from '../usage/slices.ts'
import {
  isNamed,
  isSummedSql,
  type SumsLevel,
  sumsLevels,
  type SumsTable,
  sumsTables,
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

/** Changes the sums of one table, or of all. */
export function prepareChangeSums(database: Database, only?: SumsTable): ChangeSums {
  const slices = prepareSlices(database)
  const changes = (Object.keys(sumsLevels) as SumsLevel[])
    .filter((level) => only === undefined || tableOf(level) === only)
    .map((level) => {
      const { by, named, widths } = sumsLevels[level]
      const table = tableOf(level)
      const apply = prepareApplySlices(database, table)
      return ({ condition, values }: ChangedRows, sign: 1 | -1) => {
        const rows = { condition: `${condition} AND ${isSummedSql(table)}`, values }
        const found = slices({ ...rows, by, named, widthMs: widthsMs[widths[0]] })
        apply(found, sign, widths, isNamed(level) ? level : undefined)
      }
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
  table: SumsTable,
  stepRows: number,
): () => Promise<number> {
  const { sqlite } = database
  const from = sumsTables[table]
  const change = prepareChangeSums(database, table)
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
