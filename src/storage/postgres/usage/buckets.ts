import { maxGroups, reportTooLong, tooManyGroups } from '../../common/report-limits.ts'
import { totalsWidthOf } from '../../common/usage-totals.ts'
import type { UsageBuckets } from '../../ports/usage-buckets.ts'
import type { Database } from '../connection/database.ts'
import { type BucketRow, toBucketGroup } from './bucket-row.ts'
import { ReportSlots } from './report-slots.ts'
import { rowReport } from './row-report.ts'
import { totalsReport } from './totals-report.ts'

/** The reports by period from the PostgreSQL database: one statement each, which reads totals where there are some. */
export function createUsageBuckets({ readWithin }: Pick<Database, 'readWithin'>): UsageBuckets {
  const slots = new ReportSlots()
  return {
    read: (query) =>
      slots.run(async (timeoutMs) => {
        const width = totalsWidthOf(query)
        const { text, values } = width === undefined ? rowReport(query) : totalsReport(query, width)
        const rows = await readWithin<BucketRow>(text, values, timeoutMs, reportTooLong)
        if (rows.length > maxGroups) throw tooManyGroups()
        return rows.map((row) => toBucketGroup(row, query.groupBy))
      }),
  }
}
