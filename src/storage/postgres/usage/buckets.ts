import { nextTurn } from '../../../lib/time.ts'
import { maxGroups, reportTooLong, tooManyGroups } from '../../common/report-limits.ts'
import { type RunStep, UsageGroups } from '../../common/usage-groups.ts'
import { rangesByPeriod } from '../../common/usage-ranges.ts'
import type { UsageSlice } from '../../common/usage-slice.ts'
import { type TotalsWidth, totalsWidthOf } from '../../common/usage-totals.ts'
import {
  bucketWidths,
  type UsageBucketGroup,
  type UsageBucketQuery,
  type UsageBuckets,
} from '../../ports/usage-buckets.ts'
import type { Database } from '../connection/database.ts'
import { type BucketRow, toBucketGroup } from './bucket-row.ts'
import { ReportSlots } from './report-slots.ts'
import { rowReport } from './row-report.ts'
import { addArrays, slicesStatement } from './slices.ts'

type Reads = Pick<Database, 'readWithin' | 'readPages'>

/** The reports by period from the PostgreSQL database: one statement each, which reads totals where there are some. */
export function createUsageBuckets(reads: Reads): UsageBuckets {
  const slots = new ReportSlots()
  return {
    read: (query) =>
      slots.run((timeoutMs) => {
        const width = totalsWidthOf(query)
        return width === undefined
          ? readRows(query, reads, timeoutMs)
          : readTotals(query, width, reads, timeoutMs)
      }),
  }
}

async function readRows(
  query: UsageBucketQuery,
  { readWithin }: Reads,
  timeoutMs: number,
): Promise<readonly UsageBucketGroup[]> {
  const rows = await readWithin<BucketRow>(rowReport(query), timeoutMs, reportTooLong)
  if (rows.length > maxGroups) throw tooManyGroups()
  return rows.map((row) => toBucketGroup(row, query.groupBy))
}

/** The server adds up the totals but for the times, which it returns: it would take longer to compute percentiles from them. */
async function readTotals(
  { from, to, width, groupBy, ...filters }: UsageBucketQuery,
  totals: TotalsWidth,
  { readPages }: Reads,
  timeoutMs: number,
): Promise<readonly UsageBucketGroup[]> {
  const widthMs = bucketWidths[width]
  const groups = new UsageGroups({ groupBy, widthMs, addTimes: addArrays })
  const ranges = rangesByPeriod(totals, { from, to })
  const statement = slicesStatement({ ...filters, ranges, by: groupBy, widthMs })
  const add = async (slices: readonly UsageSlice[]) => {
    for (let index = 0; index < slices.length; index += stepSlices)
      await inTurn(() => groups.add(slices.slice(index, index + stepSlices)))
  }
  await readPages(statement, timeoutMs, reportTooLong, add)
  return await groups.sorted(inTurn)
}

/** The slices that are added in one turn of the event loop. */
const stepSlices = 200

const inTurn: RunStep = async (work) => {
  await nextTurn()
  return work()
}
