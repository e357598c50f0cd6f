import type { Timing } from '../ports/usage-report.ts'

/** The number of requests of a group that took this time, in milliseconds. */
export type TimeCount = { readonly value: string | null; readonly time: number; readonly count: number }

/** Returns the percentiles of the requests; null if there are none. */
export function timingOf(rows: readonly TimeCount[]): Timing | null {
  const sorted = rows.toSorted((one, other) => one.time - other.time)
  const size = sorted.reduce((sum, { count }) => sum + count, 0)
  return size === 0 ? null : { p50: nearestRank(sorted, size * 0.5), p95: nearestRank(sorted, size * 0.95) }
}

function nearestRank(sorted: readonly TimeCount[], rank: number): number {
  let cumulated = 0
  const found = sorted.find(({ count }) => (cumulated += count) >= rank)
  return found?.time ?? 0
}
