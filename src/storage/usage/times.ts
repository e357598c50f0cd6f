import type { Timing } from '../ports/usage.ts'

/** Collects numbers of requests by rounded time in milliseconds. */
export type TimeCounts = { add(time: number, count: number): void }

/**
 * Adds times and their numbers of requests, in the form in which a store has them. What follows one another in that form
 * may be added at once.
 */
export type AddTimes = (to: TimeCounts, stored: string) => void

/** The number of requests by time. */
export class Histogram implements TimeCounts {
  readonly #counts = new Map<number, number>()

  /** Takes requests away if `count` is negative. */
  add(time: number, count: number): void {
    const sum = (this.#counts.get(time) ?? 0) + count
    if (sum > 0) this.#counts.set(time, sum)
    else this.#counts.delete(time)
  }

  /** The times, and the number of requests of each, in ascending order. */
  entries(): readonly (readonly [number, number])[] {
    return [...this.#counts].toSorted(([one], [other]) => one - other)
  }

  timing(): Timing | null {
    const entries = this.entries()
    return timingOf(
      entries.map(([time]) => time),
      entries.map(([, count]) => count),
    )
  }
}

/** A histogram of few times, which are mostly added in ascending order. */
class FewTimes implements TimeCounts {
  readonly #times: number[] = []
  readonly #counts: number[] = []

  add(time: number, count: number): void {
    let place = this.#times.push(time) - 1
    this.#counts.push(count)
    for (; place > 0 && (this.#times[place - 1] ?? 0) > time; place--) {
      this.#times[place] = this.#times[place - 1] ?? 0
      this.#counts[place] = this.#counts[place - 1] ?? 0
    }
    this.#times[place] = time
    this.#counts[place] = count
  }

  clear(): void {
    this.#times.length = 0
    this.#counts.length = 0
  }

  timing(): Timing | null {
    return timingOf(this.#times, this.#counts)
  }
}

/** For the times of one group after the other. */
const fewTimes = new FewTimes()

/** The times of a group that are longer than this in the form of the store become a histogram. */
const maxStored = 1000

/** Collects the times of a group. Most groups of a large report have few, for which a histogram each would be slow. */
export class Times {
  #stored = ''
  #histogram: Histogram | undefined

  /** Adds times in the form of the store. */
  add(stored: string, addTimes: AddTimes): void {
    this.#stored = this.#stored === '' ? stored : this.#stored + stored
    if (this.#stored.length <= maxStored) return
    addTimes((this.#histogram ??= new Histogram()), this.#stored)
    this.#stored = ''
  }

  /** Adds the times to a histogram. */
  addTo(histogram: Histogram, addTimes: AddTimes): void {
    addTimes(histogram, this.#stored)
    for (const [time, count] of this.#histogram?.entries() ?? []) histogram.add(time, count)
  }

  /** Returns the percentiles by the nearest rank; null without times. */
  timing(addTimes: AddTimes): Timing | null {
    if (this.#histogram !== undefined) {
      addTimes(this.#histogram, this.#stored)
      this.#stored = ''
      return this.#histogram.timing()
    }
    fewTimes.clear()
    addTimes(fewTimes, this.#stored)
    return fewTimes.timing()
  }
}

/** Of times in ascending order, and the number of requests of each. */
function timingOf(times: readonly number[], counts: readonly number[]): Timing | null {
  const [first] = times
  if (first === undefined) return null
  // Most groups of a large report have one request.
  if (times.length === 1) return { p50: first, p95: first }
  let size = 0
  for (const count of counts) size += count
  return { p50: nearestRank(times, counts, size * 0.5), p95: nearestRank(times, counts, size * 0.95) }
}

function nearestRank(times: readonly number[], counts: readonly number[], rank: number): number {
  let cumulated = 0
  for (const [place, time] of times.entries()) {
    cumulated += counts[place] ?? 0
    if (cumulated >= rank) return time
  }
  return 0
}
