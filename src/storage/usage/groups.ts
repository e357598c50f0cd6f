import { type ReportRun, tooManyGroups } from './report-slots.ts'
import { type CountField, type ReportSlice, sumColumns } from './slices.ts'
import type {
  Timing,
  UsageBucketGroup,
  UsageBucketQuery,
  UsageDimension,
  UsageTotals,
} from '../ports/usage.ts'

/** The groups that one step of a report completes. */
const stepGroups = 500

type Counts = Record<CountField, number>

type Group = {
  /** The same for the same bucket and values only. */
  readonly key: string
  readonly start: number
  readonly values: UsageBucketGroup['values']
  readonly counts: Counts
  cost: bigint
  readonly latencies: Histogram
  readonly firstTokens: Histogram
}

export type UsageGroupsOptions = Pick<UsageBucketQuery, 'groupBy' | 'models' | 'keys'> & {
  /** Returns the start of the bucket of a time. */
  startOf(time: number): number
  readonly addTimes: AddTimes
  /** The most groups. */
  readonly limit: number
}

/** Collects the slices of a report, and adds up those of the same group. */
export class UsageGroups {
  readonly #groups = new Map<string, Group>()
  readonly #groupBy: readonly UsageDimension[]
  readonly #startOf: (time: number) => number
  readonly #addTimes: AddTimes
  readonly #limit: number
  readonly #models: ReadonlySet<string> | undefined
  readonly #keys: ReadonlySet<string> | undefined

  constructor({ groupBy, models, keys, startOf, addTimes, limit }: UsageGroupsOptions) {
    this.#groupBy = groupBy
    this.#startOf = startOf
    this.#addTimes = addTimes
    this.#limit = limit
    this.#models = models && new Set(models)
    this.#keys = keys && new Set(keys)
  }

  /** Adds the slices that pass the filters; throws 400 if there are too many groups. */
  add(slices: readonly ReportSlice[]): void {
    for (const slice of slices) {
      const { model = '', key = '' } = slice
      if (this.#models?.has(model) === false || this.#keys?.has(key) === false) continue
      this.#addTo(this.#groupOf(slice), slice)
    }
  }

  /** The groups in the order of their buckets, most requests first; they are completed in steps. */
  async sorted(step: ReportRun['step']): Promise<readonly UsageBucketGroup[]> {
    const collected = this.#collected()
    const groups: UsageBucketGroup[] = []
    for (let index = 0; index < collected.length; index += stepGroups)
      groups.push(...(await step(() => collected.slice(index, index + stepGroups).map(toBucketGroup))))
    return groups
  }

  /** The totals of all groups together. */
  total(): UsageTotals {
    const total = emptyGroup('', 0, {})
    for (const { counts, cost, latencies, firstTokens } of this.#groups.values()) {
      for (const field of countFields) total.counts[field] += counts[field]
      total.cost += cost
      addHistogram(total.latencies, latencies)
      addHistogram(total.firstTokens, firstTokens)
    }
    return totalsOf(total)
  }

  #collected(): readonly Group[] {
    return [...this.#groups.values()].toSorted(
      (one, other) =>
        one.start - other.start ||
        other.counts.requests - one.counts.requests ||
        // In the same order each time.
        (one.key < other.key ? -1 : 1),
    )
  }

  #addTo(group: Group, slice: ReportSlice): void {
    for (const field of countFields) group.counts[field] += slice[field] ?? 0
    group.cost += BigInt(slice.cost)
    if (slice.latencies !== undefined) this.#addTimes(group.latencies, slice.latencies)
    if (slice.firstTokens !== undefined) this.#addTimes(group.firstTokens, slice.firstTokens)
  }

  #groupOf(slice: ReportSlice): Group {
    const start = this.#startOf(slice.start)
    const values: Record<string, string | null> = {}
    let key = String(start)
    for (const dimension of this.#groupBy) {
      const value = (values[dimension] = valueOf(slice, dimension))
      key += value === null ? ',' : `,${value.length}:${value}`
    }
    const known = this.#groups.get(key)
    if (known !== undefined) return known
    if (this.#groups.size >= this.#limit) throw tooManyGroups(this.#limit)
    const group = emptyGroup(key, start, values)
    this.#groups.set(key, group)
    return group
  }
}

function valueOf(slice: ReportSlice, dimension: UsageDimension): string | null {
  if (dimension === 'user' || dimension === 'tag' || dimension === 'error') return slice.label
  // Empty where the requests have none.
  return slice[dimension] || null
}

function emptyGroup(key: string, start: number, values: Group['values']): Group {
  return {
    key,
    start,
    values,
    counts: { ...noCounts },
    cost: 0n,
    latencies: new Map(),
    firstTokens: new Map(),
  }
}

const countFields = sumColumns.map(([, field]) => field)
const noCounts = Object.fromEntries(countFields.map((field) => [field, 0])) as Counts

function toBucketGroup(group: Group): UsageBucketGroup {
  return { start: group.start, values: group.values, totals: totalsOf(group) }
}

function totalsOf({ counts, cost, latencies, firstTokens }: Group): UsageTotals {
  const { priced, ...sums } = counts
  return {
    ...sums,
    // As in the report of the command line: unknown only if no cost is known.
    cost: sums.unpriced > 0 && priced === 0 ? null : cost,
    latency: timingOf(latencies),
    firstToken: timingOf(firstTokens),
  }
}

/** The number of requests by rounded time in milliseconds. */
export type Histogram = Map<number, number>

/** Adds times and their numbers of requests, in the form in which a store has them. */
export type AddTimes = (histogram: Histogram, stored: string) => void

function addHistogram(total: Histogram, histogram: Histogram): void {
  for (const [time, count] of histogram) total.set(time, (total.get(time) ?? 0) + count)
}

/** Returns the percentiles by the nearest rank; null for an empty histogram. */
export function timingOf(histogram: Histogram): Timing | null {
  if (histogram.size === 0) return null
  // An array of numbers is sorted much faster than one of entries.
  const times = new Float64Array(histogram.size)
  let [index, size] = [0, 0]
  for (const [time, count] of histogram) {
    times[index++] = time
    size += count
  }
  times.sort()
  return { p50: nearestRank(times, histogram, size * 0.5), p95: nearestRank(times, histogram, size * 0.95) }
}

function nearestRank(times: Float64Array, histogram: Histogram, rank: number): number {
  let cumulated = 0
  for (const time of times) {
    cumulated += histogram.get(time) ?? 0
    if (cumulated >= rank) return time
  }
  return 0
}
