import type { Timing } from '../ports/usage-report.ts'

/** The number of requests by rounded time in milliseconds. */
export type Histogram = Map<number, number>

/** Adds times and their numbers of requests, in the form in which a store has them. */
export type AddTimes = (histogram: Histogram, stored: string) => void

/** Returns the percentiles by the nearest rank; null for an empty histogram. */
export function timingOf(histogram: Histogram): Timing | null {
  const sorted = [...histogram].toSorted(([one], [other]) => one - other)
  const size = sorted.reduce((sum, [, count]) => sum + count, 0)
  return size === 0 ? null : { p50: nearestRank(sorted, size * 0.5), p95: nearestRank(sorted, size * 0.95) }
}

function nearestRank(sorted: readonly (readonly [time: number, count: number])[], rank: number): number {
  let cumulated = 0
  const found = sorted.find(([, count]) => (cumulated += count) >= rank)
  return found?.[0] ?? 0
}
