import type { RequestMetadata } from '../../domain/accounting/request-metadata.ts'
import type { SubtractDeleted } from '../scripts/usage-expiry.ts'
import { addLateRow } from '../scripts/usage-blocks.ts'
import { ownerExistsSql, totalsLagMs, widthsMs } from '../usage/slices.ts'
import { allStarts } from '../usage/sums.ts'
import { prepareApplySlices } from './apply-slices.ts'
import type { Database } from './connection/database.ts'
import { read } from './sqlite-errors.ts'
import { prepareSlices } from './usage-slices.ts'
import { type ChangedRows, createOlderSums, prepareChangeSums, selectUntil } from './usage-sums.ts'
import type { Writer } from './writer.ts'

/**
 * Parts of transactions that keep `usage_totals` consistent with `usage`. All rows that were created before
 * `usage_rollup.until` are part of the totals, and no others; a deleted organization has no totals.
 */
export type TotalsUpkeep = {
  /** Adds a row that was just inserted, if the totals already cover the time of its creation. */
  inserted(request: Pick<RequestMetadata, 'id' | 'createdAt'>): void
  readonly subtractDeleted: SubtractDeleted
}

export function prepareTotalsUpkeep(database: Database): TotalsUpkeep {
  const untilOf = prepareUntil(database)
  const change = prepareChangeTotals(database)
  return {
    inserted({ id, createdAt }) {
      if (createdAt >= untilOf()) return
      change({ condition: 'created_at = ?2 AND usage.id = ?3', values: [createdAt, id] }, 1)
      database.run(addLateRow(createdAt, id))
    },
    *subtractDeleted(lastCreatedAt, lastId) {
      const [rollup] = yield* selectUntil()
      const condition = '(created_at, usage.id) <= (?2, ?3) AND created_at < ?4'
      change({ condition, values: [lastCreatedAt, lastId, rollup?.until ?? 0] }, -1)
    },
  }
}

/** Part of a transaction: adds rows to the totals and the sums, or subtracts them; returns the number of slices. */
function prepareChangeTotals(database: Database): (rows: ChangedRows, sign: 1 | -1) => number {
  const slices = prepareSlices(database)
  const apply = prepareApplySlices(database, 'usage_totals')
  const changeSums = prepareChangeSums(database)
  return (rows, sign) => {
    const condition = `${rows.condition} AND ${ownerExistsSql}`
    const found = slices({ ...rows, condition, widthMs: widthsMs.hour })
    apply(found, sign, ['hour', 'day'])
    changeSums(rows, sign)
    return found.length
  }
}

/** The rows that one step adds to the totals: some 5 milliseconds, and 30 to 60 where each belongs to other totals. */
const defaultStepRows = 200

/** Adds usage rows to the totals in steps of so many rows; a step resolves with 0 if no more are due. */
export function createRollup(database: Database, writer: Writer, stepRows = defaultStepRows) {
  const untilOf = prepareUntil(database)
  const change = prepareChangeTotals(database)
  const setUntil = database.sqlite.prepare<unknown, [number]>('UPDATE usage_rollup SET until = ?')
  const due = database.sqlite.prepare<{ readonly created_at: number }, [number, number, number]>(
    'SELECT created_at FROM usage WHERE created_at >= ? AND created_at < ? ORDER BY created_at, id LIMIT 1 OFFSET ?',
  )
  const olderSums = allStarts.map((start) => createOlderSums(database, writer, start, stepRows))

  function addNow(limit: number): number {
    const until = untilOf()
    const last = due.get(until, limit, stepRows - 1)
    const end = last === null ? limit : last.created_at + 1
    const slices = change({ condition: 'created_at >= ?2 AND created_at < ?3', values: [until, end] }, 1)
    setUntil.run(end)
    // Rows of deleted organizations are skipped, and may be followed by others.
    return last === null ? slices : stepRows
  }

  return async function rollUp(): Promise<number> {
    const limit = Date.now() - totalsLagMs
    let older = 0
    for (const addOlder of olderSums) older += await addOlder()
    const isDue = (await read(() => due.get(untilOf(), limit, 0))) !== null
    const add = () => addNow(limit)
    // After a power cut, the totals and the time that they cover are both those of before.
    return older + (isDue ? await writer.write(add, () => false) : 0)
  }
}

/** Returns a function that reads the time before which all rows are part of the totals. */
export function prepareUntil({ sqlite }: Database): () => number {
  const until = sqlite.prepare<{ readonly until: number }, []>('SELECT until FROM usage_rollup')
  return () => until.get()?.until ?? 0
}
