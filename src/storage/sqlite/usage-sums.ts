import { sql } from 'drizzle-orm'
import { usage_rollup } from '../schema/usage.ts'
import { select } from '../sql.ts'
import { statement, type SubtractSums } from '../statement.ts'
import { widthsMs } from '../usage/slices.ts'
import { isSummedSql, sumsLevels } from '../usage/sums.ts'
import { prepareApplySlices, stepRows } from './apply-slices.ts'
import type { Database } from './connection/database.ts'
import { read } from './sqlite-errors.ts'
import { prepareSlices, type SlicedRows } from './usage-slices.ts'
import type { Writer } from './writer.ts'

/** Rows of `usage` that are added to totals, or subtracted. */
export type ChangedRows = Pick<SlicedRows, 'condition' | 'values'>

/** Part of a transaction that changes totals: adds rows to the sums, or subtracts them if `sign` is -1. */
export type ChangeSums = (rows: ChangedRows, sign: 1 | -1) => void

export function prepareChangeSums(database: Database): ChangeSums {
  const slices = prepareSlices(database)
  const apply = prepareApplySlices(database, 'usage_sums')
  return ({ condition, values }, sign) => {
    const rows = { condition: `${condition} AND ${isSummedSql}`, values }
    for (const { by, widths } of Object.values(sumsLevels))
      apply(slices({ ...rows, by, widthMs: widthsMs[widths[0]] }), sign, widths)
  }
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
 * Adds the rows that the totals had before there were sums, from the newest to the oldest; a step resolves with 0 if there
 * are none.
 */
export function createOlderSums(database: Database, writer: Writer): () => Promise<number> {
  const { sqlite } = database
  const change = prepareChangeSums(database)
  const summedFrom = sqlite.prepare<{ readonly time: number }, []>(
    'SELECT summed_from time FROM usage_rollup WHERE summed_from > 0',
  )
  const first = sqlite.prepare<{ readonly time: number }, [number, number]>(
    'SELECT created_at time FROM usage WHERE created_at < ? ORDER BY created_at DESC, id DESC LIMIT 1 OFFSET ?',
  )
  const setFrom = sqlite.prepare<unknown, [number]>('UPDATE usage_rollup SET summed_from = ?')

  function addNow(): number {
    const until = summedFrom.get()?.time ?? 0
    const from = first.get(until, stepRows - 1)?.time ?? 0
    setFrom.run(from)
    change({ condition: 'created_at >= ?2 AND created_at < ?3', values: [from, until] }, 1)
    return until > 0 ? stepRows : 0
  }

  return async () => ((await read(() => summedFrom.get())) === null ? 0 : writer.write(addNow, () => false))
}
