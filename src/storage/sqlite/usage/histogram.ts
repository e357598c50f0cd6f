import type { Histogram } from '../../common/usage-histogram.ts'

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
