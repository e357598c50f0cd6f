import type { Timing } from '../../ports/usage-report.ts'

/** The number of requests by rounded time in milliseconds. */
export type Histogram = Map<number, number>

/** Adds times and their numbers of requests, which alternate in the JSON; subtracts them if `sign` is -1. */
export function addTimes(histogram: Histogram, json: string, sign: 1 | -1 = 1): void {
  const times = JSON.parse(json) as readonly number[]
  for (let index = 0; index + 1 < times.length; index += 2) {
    const time = times[index] ?? 0
    const count = (histogram.get(time) ?? 0) + sign * (times[index + 1] ?? 0)
    if (count > 0) histogram.set(time, count)
    else histogram.delete(time)
  }
}

/** Returns the JSON that `addTimes` reads. */
export function timesJson(histogram: Histogram): string {
  return JSON.stringify([...histogram].toSorted(([one], [other]) => one - other).flat())
}

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
