import {
  type BucketWidth,
  bucketWidths,
  type ReportSums,
  type UsageBucketQuery,
  type UsageBuckets,
  type UsageDimension,
  type UsageFilters,
} from '../ports/usage.ts'
import { UsageGroups } from './groups.ts'
import { type ReportLimits, type ReportRun, ReportSlots, tooManyGroups } from './report-slots.ts'
import { endOfTime, readsRows, type ReportSlice, type TotalsWidth } from './slices.ts'
import { sumsFor } from './sums.ts'
import type { AddTimes } from './times.ts'

/** The requests whose slices a report reads. */
export type UsageReading = UsageFilters & {
  readonly ranges: UsageRanges
  /** The length of the buckets, of which slices are no longer; absent if there is only one. */
  readonly widthMs?: number | undefined
  /** The properties that the slices need. */
  readonly by: ReadonlySet<string>
  /** See `UsageBucketQuery`. */
  readonly sums: ReportSums
}

/** How a database has the usage. */
export type UsageSource = {
  /** The organizations that own these keys, or these projects; undefined if there are neither, or one does not exist. */
  ownersOf(filters: Pick<UsageFilters, 'keys' | 'projects'>): Promise<readonly string[] | undefined>
  /** Reads the slices of requests, and passes them on; each request is part of one, however long the reading takes. */
  readSlices(
    reading: UsageReading,
    onSlices: (slices: readonly ReportSlice[]) => void,
    run: ReportRun,
  ): Promise<void>
  /**
   * Whether these requests certainly have more groups than a report may have. Absent if that is seen while the slices are read,
   * because they arrive before all are added up.
   */
  hasMoreGroups?(
    reading: UsageReading,
    groupBy: readonly UsageDimension[],
    limit: number,
    run: ReportRun,
  ): Promise<boolean>
  readonly addTimes: AddTimes
}

/** The reports of usage: by period for the API, and in total for the command line. */
export function createUsageReports(source: UsageSource, limits: ReportLimits): UsageBuckets {
  const slots = new ReportSlots(limits)
  const { addTimes } = source

  async function readGroups(query: UsageBucketQuery, run: ReportRun): Promise<UsageGroups> {
    const { startOf, widthMs } = bucketsOf(query)
    // Totals are found by their organization: without it, those of all would be read.
    const organizations = query.organizations ?? (await source.ownersOf(query))
    const reading = readingOf({ ...query, organizations }, widthMs)
    const { maxGroups: limit } = limits
    if (await source.hasMoreGroups?.(reading, query.groupBy, limit, run)) throw tooManyGroups(limit)
    const groups = new UsageGroups({ ...query, startOf, addTimes, limit })
    await source.readSlices(reading, (slices) => groups.add(slices), run)
    return groups
  }

  return {
    read: (query) =>
      slots.run(ownerOf(query), async (run) => (await readGroups(query, run)).sorted(run.step)),
    readWithTotal: (query) =>
      slots.run(ownerOf(query), async (run) => {
        const groups = await readGroups(query, run)
        return { groups: await groups.sorted(run.step), total: groups.total() }
      }),
  }
}

/** Who reads a report: an organization reads its own, the operator those of all or of some. */
function ownerOf({ organizations }: UsageBucketQuery): string {
  return organizations?.length === 1 ? (organizations[0] ?? '') : ''
}

/** The start of the bucket of a time, and the length of the buckets if there are several. */
function bucketsOf({ width, from, to = endOfTime }: UsageBucketQuery) {
  if (width === undefined) return { startOf: () => 0 }
  const widthMs = bucketWidths[width]
  const startOf = (time: number) => Math.floor(time / widthMs) * widthMs
  const first = startOf(from)
  return first === startOf(to - 1) ? { startOf: () => first } : { startOf, widthMs }
}

function readingOf(query: UsageBucketQuery, widthMs: number | undefined): UsageReading {
  const { width: _width, from: _from, to: _to, groupBy: _groupBy, sums = 'all', ...filters } = query
  return { ...filters, ranges: rangesOf(query), widthMs, sums, by: propertiesOf(query) }
}

/** See `UsageReading.by`. */
function propertiesOf({ groupBy, models, keys, projects }: UsageBucketQuery): ReadonlySet<string> {
  return new Set<string>([
    ...groupBy,
    ...(models ? ['model'] : []),
    ...(keys ? ['key'] : []),
    ...(projects ? ['project'] : []),
  ])
}

/** A range of times; `to` is exclusive. */
export type TimeRange = { readonly from: number; readonly to: number }

/** A range of whole periods of this width. */
export type TotalsPeriods = TimeRange & { readonly width: TotalsWidth }

/** The ranges that a report reads, so that each request counts once. */
type UsageRanges = {
  readonly totals: readonly TotalsPeriods[]
  /** The range of all totals: of the rows in it, those are read that are not part of the totals. */
  readonly covered: TimeRange
  /** Where all rows are read. */
  readonly rows: readonly TimeRange[]
}

/** Returns what a report reads: totals or sums no longer than its buckets where there are some, and rows elsewhere. */
export function rangesOf(query: UsageBucketQuery): UsageRanges {
  const { from, to = endOfTime, width = '1d' } = query
  const shortest = shortestPeriod(query)
  const isLongEnough = shortest !== undefined && bucketWidths[width] >= bucketWidths[shortest]
  const whole = isLongEnough ? within(from, to, shortest) : undefined
  if (whole === undefined) return { totals: [], covered: { from, to: from }, rows: [{ from, to }] }
  const days = width === '1h' ? undefined : within(whole.from, whole.to, '1d')
  const parts = [
    { from, to: whole.from },
    { from: whole.to, to },
  ]
  return {
    totals: days
      ? [
          { width: 'hour' as const, from: whole.from, to: days.from },
          { width: 'day' as const, ...days },
          { width: 'hour' as const, from: days.to, to: whole.to },
        ].filter(isNotEmpty)
      : [{ width: 'hour', ...whole }],
    covered: whole,
    rows: parts.filter(isNotEmpty),
  }
}

/** The shortest period of what a report can read instead of rows; undefined if there is nothing. */
function shortestPeriod(query: UsageBucketQuery): BucketWidth | undefined {
  if (!readsRows(query)) return '1h'
  return sumsFor({ ...query, by: propertiesOf(query) }, 'day') && '1d'
}

/** The whole periods in a range; undefined if there are none. */
function within(from: number, to: number, width: BucketWidth): TimeRange | undefined {
  const widthMs = bucketWidths[width]
  const whole = { from: Math.ceil(from / widthMs) * widthMs, to: Math.floor(to / widthMs) * widthMs }
  return isNotEmpty(whole) ? whole : undefined
}

/** Whether there are times in a range. */
export function isNotEmpty({ from, to }: TimeRange): boolean {
  return from < to
}
