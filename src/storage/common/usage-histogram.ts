import type { Timing } from '../ports/usage-report.ts'

/** The number of requests by rounded time in milliseconds. */
export type Histogram = Map<number, number>

/** Adds times and their numbers of requests, in the form in which a store has them. */
export type AddTimes = (histogram: Histogram, stored: string) => void

/** Returns the percentiles by the nearest rank; null for an empty histogram. */
export function timingOf(histogram: Histogram): Timing | null {
  if (histogram.size === 0) return null
  // An array of numbers is sorted much faster than one of entries.
  const times = Float64Array.from(histogram.keys()).toSorted()
  let size = 0
  for (const count of histogram.values()) size += count
  return { p50: nearestRank(times, histogram, size * 0.5), p95: nearestRank(times, histogram, size * 0.95) }
}

function nearestRank(times: Float64Array, histogram: Histogram, rank: number): number {
  let cumulated = 0
  return times.find((time) => (cumulated += histogram.get(time) ?? 0) >= rank) ?? 0
}
