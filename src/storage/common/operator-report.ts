import type { UsageBucketGroup, UsageDimension, UsageTotals } from '../ports/usage-buckets.ts'
import type { UsageGroup, UsageGrouping, UsageQuery, UsageReport, UsageSums } from '../ports/usage-report.ts'
import { bucketWidths } from '../ports/usage-buckets.ts'
import { UsageGroups } from './usage-groups.ts'
import type { AddTimes } from './usage-histogram.ts'
import { rangesOf, type UsageRanges } from './usage-ranges.ts'
import type { UsageSlice } from './usage-slice.ts'
import { emptySums, withEmptyDays } from './usage-sums.ts'

/** A length that no range of times exceeds. */
const anyLength = Number.MAX_SAFE_INTEGER
/** A time that no request reaches, at which a day begins. */
const endOfTime = 8_640_000_000_000_000

/** The groupings that totals have: the properties of a slice, and the length of a period. */
const groupings: Readonly<Partial<Record<UsageGrouping, Grouping>>> = {
  model: { by: ['model'], widthMs: anyLength },
  provider: { by: ['provider'], widthMs: anyLength },
  org: { by: ['organization'], widthMs: anyLength },
  key: { by: ['key'], widthMs: anyLength },
  day: { by: [], widthMs: bucketWidths['1d'] },
}

type Grouping = { readonly by: readonly UsageDimension[]; readonly widthMs: number }

/** A report of the command line that is made of totals, and of the rows that they do not cover. */
export class OperatorReport {
  readonly by: readonly UsageDimension[]
  readonly widthMs: number
  readonly ranges: UsageRanges
  readonly #query: UsageQuery
  readonly #groups: UsageGroups
  /** Counts each request once, like the groups; but its percentiles are not those of any group. */
  readonly #total: UsageGroups

  private constructor(query: UsageQuery, { by, widthMs }: Grouping, addTimes: AddTimes) {
    this.#query = query
    this.by = by
    this.widthMs = widthMs
    this.ranges = rangesOf({ from: query.since, to: query.until ?? endOfTime })
    const limit = Number.POSITIVE_INFINITY
    this.#groups = new UsageGroups({ groupBy: by, widthMs, addTimes, limit })
    this.#total = new UsageGroups({ groupBy: [], widthMs: anyLength, addTimes, limit })
  }

  /** Undefined if the report needs the rows: totals have no tags and no error codes. */
  static of(query: UsageQuery, addTimes: AddTimes): OperatorReport | undefined {
    const grouping = groupings[query.by]
    return grouping && new OperatorReport(query, grouping, addTimes)
  }

  add(slices: readonly UsageSlice[]): void {
    this.#groups.add(slices)
    this.#total.add(slices)
  }

  /** `names` has the names of organizations or keys, by their ids. */
  report(names: ReadonlyMap<string, string>): UsageReport {
    const groups = this.#groups.sortedNow().map((group) => toUsageGroup(group, this.#query.by, names))
    const [total] = this.#total.sortedNow()
    return {
      groups:
        this.#query.by === 'day' ? withEmptyDays(groups, this.#query, emptySums) : groups.toSorted(byCost),
      total: total ? toSums(total.totals) : emptySums,
    }
  }
}

function toUsageGroup(
  { start, values, totals }: UsageBucketGroup,
  by: UsageGrouping,
  names: ReadonlyMap<string, string>,
): UsageGroup {
  const sums = toSums(totals)
  if (by === 'day') return { value: new Date(start).toISOString().slice(0, 10), name: null, ...sums }
  const [value = null] = Object.values(values)
  const name = value === null ? null : (names.get(value) ?? null)
  return by === 'org' ? { value: name, name: null, ...sums } : { value, name, ...sums }
}

function toSums({ cacheWriteTokens: _cacheWriteTokens, ...sums }: UsageTotals): UsageSums {
  return sums
}

/** The most expensive first, and unknown costs last; of those, the most requests. */
function byCost(one: UsageGroup, other: UsageGroup): number {
  const [cost, otherCost] = [one.cost ?? -1n, other.cost ?? -1n]
  if (cost !== otherCost) return cost > otherCost ? -1 : 1
  return other.requests - one.requests || ((one.value ?? '') < (other.value ?? '') ? -1 : 1)
}
