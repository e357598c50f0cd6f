import { maxGroups, tooManyGroups } from '../../common/report-limits.ts'
import type { UsageBucketGroup, UsageBucketQuery, UsageDimension } from '../../ports/usage-buckets.ts'
import { addTimes, type Histogram, timingOf } from './histogram.ts'
import type { UsageSlice } from './slice.ts'
import type { RunStep } from './turns.ts'

/** The groups that one step of a report completes. */
const stepGroups = 500

type CountField = Exclude<
  keyof UsageSlice,
  | 'start'
  | 'organization'
  | 'key'
  | 'api'
  | 'model'
  | 'provider'
  | 'label'
  | 'cost'
  | 'latencies'
  | 'firstTokens'
>
type Counts = Record<CountField, number>

type Group = {
  readonly start: number
  readonly values: UsageBucketGroup['values']
  readonly counts: Counts
  cost: bigint
  readonly latencies: Histogram
  readonly firstTokens: Histogram
}

/** Collects the slices of a report, and adds up those of the same group. */
export class UsageGroups {
  readonly #groups = new Map<string, Group>()
  readonly #groupBy: readonly UsageDimension[]
  readonly #models: ReadonlySet<string> | undefined
  readonly #keys: ReadonlySet<string> | undefined

  constructor({ groupBy, models, keys }: Pick<UsageBucketQuery, 'groupBy' | 'models' | 'keys'>) {
    this.#groupBy = groupBy
    this.#models = models && new Set(models)
    this.#keys = keys && new Set(keys)
  }

  /** Adds the slices that pass the filters; throws 400 if there are too many groups. */
  add(slices: readonly UsageSlice[]): void {
    for (const slice of slices) {
      if (this.#models?.has(slice.model) === false || this.#keys?.has(slice.key) === false) continue
      addTo(this.#groupOf(slice), slice)
    }
  }

  /** The groups in the order of their buckets, most requests first. */
  async sorted(step: RunStep): Promise<readonly UsageBucketGroup[]> {
    const collected = [...this.#groups.values()].toSorted(
      (one, other) => one.start - other.start || other.counts.requests - one.counts.requests,
    )
    const groups: UsageBucketGroup[] = []
    for (let index = 0; index < collected.length; index += stepGroups)
      groups.push(...(await step(() => collected.slice(index, index + stepGroups).map(toBucketGroup))))
    return groups
  }

  #groupOf(slice: UsageSlice): Group {
    const values = this.#groupBy.map((dimension) => valueOf(slice, dimension))
    const key = JSON.stringify([slice.start, ...values])
    const known = this.#groups.get(key)
    if (known !== undefined) return known
    if (this.#groups.size >= maxGroups) throw tooManyGroups()
    const group = emptyGroup(
      slice.start,
      Object.fromEntries(this.#groupBy.map((dimension, index) => [dimension, values[index] ?? null])),
    )
    this.#groups.set(key, group)
    return group
  }
}

function valueOf(slice: UsageSlice, dimension: UsageDimension): string | null {
  if (dimension === 'user' || dimension === 'tag') return slice.label
  // Empty where the requests have none.
  return slice[dimension] || null
}

function emptyGroup(start: number, values: Group['values']): Group {
  const counts: Counts = {
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
  return { start, values, counts, cost: 0n, latencies: new Map(), firstTokens: new Map() }
}

function addTo(group: Group, slice: UsageSlice): void {
  for (const field of countFields) group.counts[field] += slice[field]
  group.cost += BigInt(slice.cost)
  addTimes(group.latencies, slice.latencies)
  addTimes(group.firstTokens, slice.firstTokens)
}

const countFields = Object.keys(emptyGroup(0, {}).counts) as readonly CountField[]

function toBucketGroup({ start, values, counts, cost, latencies, firstTokens }: Group): UsageBucketGroup {
  const { priced, ...sums } = counts
  const totals = {
    ...sums,
    // As in the report of the command line: unknown only if no cost is known.
    cost: sums.unpriced > 0 && priced === 0 ? null : cost,
    latency: timingOf(latencies),
    firstToken: timingOf(firstTokens),
  }
  return { start, values, totals }
}
