import { type ReportLimits, type ReportRun, ReportSlots } from './report-slots.ts'
import { bucketWidths, type UsageBucketQuery, type UsageBuckets } from '../ports/usage.ts'
import { type AddTimes, UsageGroups } from './groups.ts'
import { rangesOf, type UsageRanges } from './ranges.ts'
import { labelOf, type UsageLabel, type UsageSlice } from './slices.ts'

/** The requests whose slices a report reads. */
export type UsageReading = Pick<UsageBucketQuery, 'organizations' | 'models' | 'keys'> & {
  readonly ranges: UsageRanges
  /** The length of the periods of slices of rows, at most an hour; those of totals have their own. */
  readonly widthMs: number
  /** The properties that the slices need; the others may be empty. */
  readonly by: ReadonlySet<string>
  readonly label?: UsageLabel | undefined
}

/** How a database has the usage. */
export type UsageSource = {
  /** Reads the slices of requests, and passes them on; each request is part of one, however long the reading takes. */
  readSlices(
    reading: UsageReading,
    onSlices: (slices: readonly UsageSlice[]) => void,
    run: ReportRun,
  ): Promise<void>
  readonly addTimes: AddTimes
}

/** The reports of usage: by period for the API, and in total for the command line. */
export function createUsageReports(source: UsageSource, limits: ReportLimits): UsageBuckets {
  const slots = new ReportSlots(limits)
  const { addTimes } = source
  return {
    read: (query) =>
      slots.run(async (run) => {
        const groups = new UsageGroups({ ...query, addTimes, limit: limits.maxGroups })
        await source.readSlices(readingOf(query), (slices) => groups.add(slices), run)
        return await groups.sorted(run.step)
      }),
  }
}

function readingOf(query: UsageBucketQuery): UsageReading {
  const { organizations, models, keys, groupBy, width = '1h' } = query
  return {
    organizations,
    models,
    keys,
    ranges: rangesOf(query),
    widthMs: Math.min(bucketWidths[width], bucketWidths['1h']),
    by: new Set<string>([...groupBy, ...(models ? ['model'] : []), ...(keys ? ['key'] : [])]),
    label: labelOf(query),
  }
}
