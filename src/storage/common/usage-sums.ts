import type { Timings, UsageGroup, UsageQuery, UsageReport, UsageSums } from '../ports/usage-report.ts'

/** The sums of a set of requests as a store reads them. The cost is text, because it may exceed the range of a number. */
export type SumsRow = Omit<UsageSums, 'cost' | keyof Timings> & {
  readonly cost: string
  readonly priced: number
}

/** The sums of a group. */
export type GroupRow = SumsRow & { readonly value: string | null }

type ReadSums = {
  readonly rows: readonly GroupRow[]
  readonly total: SumsRow | undefined
  readonly timings: { of(value: string | null): Timings; readonly total: Timings }
}

/** Converts what a store has read to a report. */
export function toReport({ rows, total = noSums, timings }: ReadSums): UsageReport {
  return {
    groups: rows.map((row) => ({ value: row.value, name: null, ...toSums(row), ...timings.of(row.value) })),
    total: { ...toSums(total), ...timings.total },
  }
}

const noSums: SumsRow = {
  requests: 0,
  failed: 0,
  clientErrors: 0,
  serverErrors: 0,
  promptTokens: 0,
  completionTokens: 0,
  cachedTokens: 0,
  reasoningTokens: 0,
  unpriced: 0,
  priced: 0,
  cost: '0',
}

/** The sums of no requests. */
export const emptySums: UsageSums = { ...toSums(noSums), latency: null, firstToken: null }

function toSums({ priced, cost, ...counts }: SumsRow): Omit<UsageSums, keyof Timings> {
  return { ...counts, cost: counts.unpriced > 0 && priced === 0 ? null : BigInt(cost) }
}

const day = 86_400_000
/** A longer range starts with its first request, so that the report has no years without requests. */
const maxLeadingDays = 400
/** A longer report lists only days with requests. */
const maxDays = 4000

/** Returns the groups of days in order, with an empty group for each day of the range without requests. */
export function withEmptyDays(
  groups: readonly UsageGroup[],
  { since, until = Date.now() + 1 }: UsageQuery,
  empty: UsageSums,
): readonly UsageGroup[] {
  const byDay = new Map(groups.map((group) => [group.value, group]))
  const last = dayOf(until - 1)
  const firstRequest = dayOf(Date.parse(groups[0]?.value ?? '') || last)
  const first = last - dayOf(since) <= maxLeadingDays * day ? dayOf(since) : firstRequest
  if (last - first > maxDays * day) return groups
  const days = Array.from({ length: (last - first) / day + 1 }, (_, index) => first + index * day)
  return days.map((time) => {
    const value = new Date(time).toISOString().slice(0, 10)
    return byDay.get(value) ?? { value, name: null, ...empty }
  })
}

function dayOf(time: number): number {
  return Math.floor(time / day) * day
}
