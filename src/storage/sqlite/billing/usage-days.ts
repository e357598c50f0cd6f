import type { UsageGroup, UsageQuestion, UsageSums } from './usage-report.ts'

const day = 86_400_000
/** A time of more days begins with its first request: nobody looks at years of nothing. */
const maxLeadingDays = 400
/** Beyond it only days with requests are listed. */
const maxDays = 4000

/** The groups of days in order, with an empty one for each day of the time that has no requests. */
export function withEmptyDays(
  groups: readonly UsageGroup[],
  { since, until = Date.now() + 1 }: UsageQuestion,
  empty: UsageSums,
): readonly UsageGroup[] {
  const known = new Map(groups.map((group) => [group.value, group]))
  const last = dayOf(until - 1)
  const firstRequest = dayOf(Date.parse(groups[0]?.value ?? '') || last)
  const first = last - dayOf(since) <= maxLeadingDays * day ? dayOf(since) : firstRequest
  if (last - first > maxDays * day) return groups
  const days = Array.from({ length: (last - first) / day + 1 }, (_, index) => first + index * day)
  return days.map((time) => {
    const value = new Date(time).toISOString().slice(0, 10)
    return known.get(value) ?? { value, name: null, ...empty }
  })
}

function dayOf(time: number): number {
  return Math.floor(time / day) * day
}
