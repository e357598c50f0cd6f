import type { Timing } from '../ports/usage.ts'

/** The number of requests by rounded time in milliseconds. */
export type Histogram = Map<number, number>

/**
 * Adds times and their numbers of requests, in the form in which a store has them. What follows one another in that form
 * may be added at once.
 */
export type AddTimes = (histogram: Histogram, stored: string) => void

/** The times of a group that are longer than this in the form of the store become a histogram. */
const maxStored = 1000

/** Collects the times of a group. Most groups of a large report have few, for which a histogram each would be slow. */
export class Times {
  #stored = ''
  #histogram: Histogram | undefined

  /** Adds times in the form of the store. */
  add(stored: string, addTimes: AddTimes): void {
    this.#stored += stored
    if (this.#stored.length <= maxStored) return
    addTimes((this.#histogram ??= new Map()), this.#stored)
    this.#stored = ''
  }

  /** Adds the times to a histogram. */
  addTo(histogram: Histogram, addTimes: AddTimes): void {
    if (this.#stored !== '') addTimes(histogram, this.#stored)
    for (const [time, count] of this.#histogram ?? []) histogram.set(time, (histogram.get(time) ?? 0) + count)
  }
}

/** Returns the percentiles by the nearest rank; null for an empty histogram. */
export function timingOf(histogram: Histogram): Timing | null {
  const [first, ...others] = histogram.keys()
  if (first === undefined) return null
  // Most groups of a large report have one request.
  if (others.length === 0) return { p50: first, p95: first }
  const times = [first, ...others].toSorted((one, other) => one - other)
  let size = 0
  for (const count of histogram.values()) size += count
  return { p50: nearestRank(times, histogram, size * 0.5), p95: nearestRank(times, histogram, size * 0.95) }
}

function nearestRank(times: readonly number[], histogram: Histogram, rank: number): number {
  let cumulated = 0
  for (const time of times) {
    cumulated += histogram.get(time) ?? 0
    if (cumulated >= rank) return time
  }
  return 0
}
