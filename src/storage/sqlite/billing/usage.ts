import type { Outcome, RequestMetadata } from '../../../domain/accounting/request-metadata.ts'
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
