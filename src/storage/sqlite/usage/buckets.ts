import { type RunStep, UsageGroups } from '../../common/usage-groups.ts'
import { rangesByPeriod, rowsOf } from '../../common/usage-ranges.ts'
import { labelOf, totalsWidthOf } from '../../common/usage-totals.ts'
import {
  bucketWidths,
  type UsageBucketGroup,
  type UsageBucketQuery,
  type UsageBuckets,
} from '../../ports/usage-buckets.ts'
import type { Database } from '../connection/database.ts'
import { toOutage } from '../sqlite-errors.ts'
import { addTimes } from './histogram.ts'
import { prepareReadUsage, type ReadUsage } from './read-usage.ts'
import { ReportTurns } from './turns.ts'

/** The reports by period from the SQLite database; `flush` writes the rows of requests that have just ended. */
export function createUsageBuckets(database: Database, flush: () => Promise<unknown>): UsageBuckets {
  const turns = new ReportTurns()
  const readUsage = prepareReadUsage(database)
  return {
    async read(query) {
      await flush()
      return await turns
        .run((step) => readReport(query, readUsage, step))
        .catch((error) => {
          throw toOutage(error)
        })
    },
  }
}

async function readReport(
  query: UsageBucketQuery,
  readUsage: ReadUsage,
  step: RunStep,
): Promise<readonly UsageBucketGroup[]> {
  const { organizations, groupBy, models, keys } = query
  const widthMs = bucketWidths[query.width]
  const width = totalsWidthOf(query)
  const groups = new UsageGroups({ ...query, widthMs, addTimes })
  const batches = readUsage({
    organizations,
    ranges: width === undefined ? rowsOf(query) : rangesByPeriod(width, query),
    widthMs,
    by: new Set<string>([...groupBy, ...(models ? ['model'] : []), ...(keys ? ['key'] : [])]),
    label: labelOf(query),
  })
  const addNext = () => {
    const { value, done } = batches.next()
    if (done !== true) groups.add(value)
    return done === true
  }
  while (!(await step(addNext)));
  return await groups.sorted(step)
}
