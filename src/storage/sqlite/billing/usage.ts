import { sql } from 'drizzle-orm'
import type { Outcome, RequestMetadata } from '../../../domain/accounting/request-metadata.ts'
import { type UsageValue, usageRow } from '../../usage/usage-row.ts'
import type { Database } from '../connection/database.ts'
import { organizations } from '../../schema/organizations.ts'
import { bare } from '../../sql.ts'
import { textOf } from '../run-script.ts'
import { usage } from '../../schema/usage.ts'
import { prepareTotalsUpkeep } from '../usage-totals.ts'

/** Part of a transaction: inserts the row of a request; false if it has one already, or its organization is deleted. */
export function prepareUsageInsert(
  database: Database,
): (request: RequestMetadata, outcome: Outcome) => boolean {
  const totals = prepareTotalsUpkeep(database)
  const values = Object.values(columns)
  const names = Object.keys(columns) as (keyof typeof columns)[]
  const inserted = sql.join(
    names.map((name) => bare(usage[name])),
    sql`, `,
  )
  const parameters = sql.raw(names.map((_, index) => `?${index + 1}`).join())
  const owner = sql.raw(`?${names.indexOf('organization_id') + 1}`)
  // The organization may be deleted while its call runs; the call must not fail because of that.
  const insert = database.sqlite.prepare(
    textOf(sql`insert into ${usage} (${inserted}) select ${parameters} where exists (
      select 1 from ${organizations} where ${organizations.id} = ${owner} and ${organizations.deletion} is null)
      on conflict do nothing`),
  )
  return (request, outcome) => {
    const isNew = insert.run(...values.map((value) => value(request, outcome))).changes > 0
    if (isNew) totals.inserted(request)
    return isNew
  }
}

/** Names every column of the table. */
const columns: Readonly<
  Record<keyof typeof usage.$inferSelect, (request: RequestMetadata, outcome: Outcome) => UsageValue>
> = usageRow
