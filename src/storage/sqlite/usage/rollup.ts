import type { RequestMetadata } from '../../../domain/accounting/request-metadata.ts'
import { totalsLagMs } from '../../common/usage-totals.ts'
import type { Database } from '../connection/database.ts'
import { organizationExistsSql } from '../organization-exists.ts'
import { read } from '../sqlite-errors.ts'
import type { Writer } from '../writer/writer.ts'
import { prepareSlices } from './slice.ts'
import { prepareApplySlices, totalsWidthMs } from './totals.ts'

/**
 * Parts of transactions that keep `usage_totals` consistent with `usage`. All rows that were created before
 * `usage_rollup.until` are part of the totals, and no others; a deleted organization has no totals.
 */
export type TotalsUpkeep = {
  /** Adds a row that was just inserted, if the totals already cover the time of its creation. */
  inserted(request: Pick<RequestMetadata, 'id' | 'createdAt'>): void
  /** Subtracts the rows up to this one, which are about to be deleted. */
  deleting(lastCreatedAt: number, lastId: string): void
}

export function prepareTotalsUpkeep(database: Database): TotalsUpkeep {
  const untilOf = prepareUntil(database)
  const slices = prepareSlices(database)
  const apply = prepareApplySlices(database)
  const slicesOf = (condition: string, values: readonly (string | number)[]) =>
    slices({ condition: `${condition} AND ${ownerExists}`, values, widthMs: totalsWidthMs })
  return {
    inserted({ id, createdAt }) {
      if (createdAt >= untilOf()) return
      apply(slicesOf('created_at = ?2 AND usage.id = ?3', [createdAt, id]), 1)
    },
    deleting: (lastCreatedAt, lastId) =>
      apply(
        slicesOf('(created_at, usage.id) <= (?2, ?3) AND created_at < ?4', [
          lastCreatedAt,
          lastId,
          untilOf(),
        ]),
        -1,
      ),
  }
}

/** The rows that one step adds to the totals: it delays requests no longer than a few milliseconds. */
const stepRows = 500

/** Adds usage rows to the totals in steps; a step resolves with 0 if no more are due. */
export function createRollup(database: Database, writer: Writer, now: () => number = Date.now) {
  const untilOf = prepareUntil(database)
  const slices = prepareSlices(database)
  const apply = prepareApplySlices(database)
  const setUntil = database.sqlite.prepare<unknown, [number]>('UPDATE usage_rollup SET until = ?')
  const due = database.sqlite.prepare<{ readonly created_at: number }, [number, number, number]>(
    'SELECT created_at FROM usage WHERE created_at >= ? AND created_at < ? ORDER BY created_at, id LIMIT 1 OFFSET ?',
  )

  function addNow(limit: number): number {
    const until = untilOf()
    const last = due.get(until, limit, stepRows - 1)
    const end = last === null ? limit : last.created_at + 1
    const condition = `created_at >= ?2 AND created_at < ?3 AND ${ownerExists}`
    const found = slices({ condition, values: [until, end], widthMs: totalsWidthMs })
    apply(found, 1)
    setUntil.run(end)
    // Rows of deleted organizations are skipped, and may be followed by others.
    return last === null ? found.length : stepRows
  }

  return async function rollUp(): Promise<number> {
    const limit = now() - totalsLagMs
    if ((await read(() => due.get(untilOf(), limit, 0))) === null) return 0
    // After a power cut, the totals and the time that they cover are both those of before.
    return writer.write(
      () => addNow(limit),
      () => false,
    )
  }
}

/** Returns a function that reads the time before which all rows are part of the totals. */
export function prepareUntil({ sqlite }: Database): () => number {
  const until = sqlite.prepare<{ readonly until: number }, []>('SELECT until FROM usage_rollup')
  return () => until.get()?.until ?? 0
}

const ownerExists = `EXISTS (SELECT 1 FROM organizations WHERE id = organization_id AND ${organizationExistsSql})`
