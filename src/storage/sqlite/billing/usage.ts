import type { Outcome, RequestMetadata } from '../../../domain/accounting/request-metadata.ts'
import { oneStep, stepRows } from '../../common/step-size.ts'
import { type UsageValue, usageRow } from '../../usage/usage-row.ts'
import type { Database } from '../connection/database.ts'
import { organizationExistsSql } from '../organization-exists.ts'
import type { usage } from '../../schema/usage.ts'
import { prepareTotalsUpkeep } from '../usage-totals.ts'

/** Part of a transaction: inserts the row of a request; false if it has one already, or its organization is deleted. */
export function prepareUsageInsert(
  database: Database,
): (request: RequestMetadata, outcome: Outcome) => boolean {
  const totals = prepareTotalsUpkeep(database)
  // A plain statement: the query builder adds half the time of the insert.
  const names = Object.keys(columns)
  const values = Object.values(columns)
  // The organization may be deleted while its call runs; the call must not fail because of that.
  const owner = `?${names.indexOf('organization_id') + 1}`
  const insert = database.sqlite.prepare(
    `INSERT INTO usage (${names.join()}) SELECT ${names.map((_, index) => `?${index + 1}`).join()} ` +
      `WHERE EXISTS (SELECT 1 FROM organizations WHERE id = ${owner} AND ${organizationExistsSql}) ` +
      'ON CONFLICT DO NOTHING',
  )
  return (request, outcome) => {
    const inserted = insert.run(...values.map((value) => value(request, outcome))).changes > 0
    if (inserted) totals.inserted(request)
    return inserted
  }
}

/** Names every column of the table. */
const columns: Readonly<
  Record<keyof typeof usage.$inferSelect, (request: RequestMetadata, outcome: Outcome) => UsageValue>
> = usageRow

/** Part of a transaction: deletes some of the rows that were created before this time, and returns their number. */
export function prepareUsageExpiry(database: Database): (before: number) => number {
  const { sqlite } = database
  const totals = prepareTotalsUpkeep(database)
  const oldest = sqlite.prepare<Candidate, [number, number]>(
    `SELECT created_at, id, ${usageBytes} bytes FROM usage WHERE created_at < ? ORDER BY created_at, id LIMIT ?`,
  )
  const remove = sqlite.prepare<unknown, [number, string]>(
    'DELETE FROM usage WHERE (created_at, id) <= (?, ?)',
  )
  return (before) => {
    const expired = oneStep(oldest.all(before, stepRows))
    const last = expired.at(-1)
    if (last === undefined) return 0
    totals.deleting(last.created_at, last.id)
    remove.run(last.created_at, last.id)
    return expired.length
  }
}

/** SQL for the bytes of a `usage` row that clients chose: older rows have no limit. */
export const usageBytes =
  'coalesce(octet_length(user), 0) + coalesce(octet_length(tags), 0) + coalesce(octet_length(trace), 0)'

type Candidate = { readonly created_at: number; readonly id: string; readonly bytes: number }
