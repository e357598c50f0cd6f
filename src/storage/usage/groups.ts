import { type ReportRun, tooManyGroups } from './report-slots.ts'
import { type AddTimes, Histogram, Times } from './times.ts'
import { type CountField, type ReportSlice, sumColumnsOf } from './slices.ts'
import type {
  ReportSums,
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
  readonly latencies: Times
  readonly firstTokens: Times
}

type UsageGroupsOptions = Pick<UsageBucketQuery, 'groupBy' | 'models' | 'keys' | 'projects' | 'sums'> & {
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
  readonly #sums: ReportSums
  readonly #counts: readonly CountField[]
  readonly #startOf: (time: number) => number
  readonly #addTimes: AddTimes
  readonly #limit: number
  readonly #models: ReadonlySet<string> | undefined
  readonly #keys: ReadonlySet<string> | undefined
  readonly #projects: ReadonlySet<string> | undefined

  constructor({ groupBy, sums = 'all', startOf, addTimes, limit, ...filters }: UsageGroupsOptions) {
    this.#groupBy = groupBy
    this.#sums = sums
    this.#counts = sumColumnsOf(sums).map(([, field]) => field)
    this.#startOf = startOf
    this.#addTimes = addTimes
    this.#limit = limit
    const { models, keys, projects } = filters
    this.#models = models && new Set(models)
    this.#keys = keys && new Set(keys)
    this.#projects = projects && new Set(projects)
  }

  /** Adds the slices that pass the filters; throws 400 if there are too many groups. */
  add(slices: readonly ReportSlice[]): void {
    for (const slice of slices) {
      const { model = '', key = '' } = slice
      if (this.#models?.has(model) === false || this.#keys?.has(key) === false) continue
      if (this.#projects?.has(slice.project ?? '') === false) continue
      this.#addTo(this.#groupOf(slice), slice)
    }
  }

  /** The groups in the order of their buckets, most requests first; they are completed in steps. */
  async sorted(step: ReportRun['step']): Promise<readonly UsageBucketGroup[]> {
    const collected = await step(() => this.#collected())
    const complete = (group: Group) => this.#toBucketGroup(group)
    const groups: UsageBucketGroup[] = []
    for (let index = 0; index < collected.length; index += stepGroups)
      groups.push(...(await step(() => collected.slice(index, index + stepGroups).map(complete))))
    return groups
  }

  /** The totals of all groups together. */
  total(): UsageTotals {
    const total = emptyGroup('', 0, {})
    const [allLatencies, allFirstTokens] = [new Histogram(), new Histogram()]
    for (const { counts, cost, latencies, firstTokens } of this.#groups.values()) {
      for (const field of this.#counts) total.counts[field] += counts[field]
      total.cost += cost
      latencies.addTo(allLatencies, this.#addTimes)
      firstTokens.addTo(allFirstTokens, this.#addTimes)
    }
    return totalsOf(total, allLatencies.timing(), allFirstTokens.timing())
  }

  #collected(): readonly Group[] {
    // In the same order each time. By key at first: the engine compares texts faster than a function.
    const keys = [...this.#groups.keys()].toSorted()
    const byKey: Group[] = []
    for (const key of keys) {
      const group = this.#groups.get(key)
      if (group !== undefined) byKey.push(group)
    }
    return byKey.toSorted(
      (one, other) => one.start - other.start || other.counts.requests - one.counts.requests,
    )
  }

  #toBucketGroup(group: Group): UsageBucketGroup {
    return {
      start: group.start,
      values: group.values,
      totals: totalsOf(
        group,
        group.latencies.timing(this.#addTimes),
        group.firstTokens.timing(this.#addTimes),
      ),
    }
  }

  #addTo(group: Group, slice: ReportSlice): void {
    for (const field of this.#counts) group.counts[field] += slice[field] ?? 0
    if (this.#sums !== 'usage') group.cost += BigInt(slice.cost ?? 0)
    if (this.#sums === 'costs') return
    if (slice.latencies !== undefined) group.latencies.add(slice.latencies, this.#addTimes)
    if (slice.firstTokens !== undefined) group.firstTokens.add(slice.firstTokens, this.#addTimes)
  }

  #groupOf(slice: ReportSlice): Group {
    const start = this.#startOf(slice.start ?? 0)
    let key = String(start)
    for (const dimension of this.#groupBy) {
      const value = valueOf(slice, dimension)
      key += value === null ? ',' : `,${value.length}:${value}`
    }
    const known = this.#groups.get(key)
    if (known !== undefined) return known
    if (this.#groups.size >= this.#limit) throw tooManyGroups(this.#limit)
    const values: Record<string, string | null> = {}
    for (const dimension of this.#groupBy) values[dimension] = valueOf(slice, dimension)
    const group = emptyGroup(key, start, values)
    this.#groups.set(key, group)
    return group
  }
}

function valueOf(slice: ReportSlice, dimension: UsageDimension): string | null {
  // Empty where the requests have none.
  return slice[dimension] || null
}

function emptyGroup(key: string, start: number, values: Group['values']): Group {
  return {
    key,
    start,
    values,
    counts: noCounts(),
    cost: 0n,
    latencies: new Times(),
    firstTokens: new Times(),
  }
}

// Field by field, like the totals: there may be thousands of groups, and to copy an object is slow.
function noCounts(): Counts {
  return {
    requests: 0,
    failed: 0,
    clientErrors: 0,
    serverErrors: 0,
    promptTokens: 0,
    completionTokens: 0,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
    priced: 0,
    unpriced: 0,
  }
}

function totalsOf({ counts, cost }: Group, latency: Timing | null, firstToken: Timing | null): UsageTotals {
  return {
    requests: counts.requests,
    failed: counts.failed,
    clientErrors: counts.clientErrors,
    serverErrors: counts.serverErrors,
    promptTokens: counts.promptTokens,
    completionTokens: counts.completionTokens,
    cachedTokens: counts.cachedTokens,
    cacheWriteTokens: counts.cacheWriteTokens,
    reasoningTokens: counts.reasoningTokens,
    unpriced: counts.unpriced,
    // As in the report of the command line: unknown only if no cost is known.
    cost: counts.unpriced > 0 && counts.priced === 0 ? null : cost,
    latency,
    firstToken,
  }
}
