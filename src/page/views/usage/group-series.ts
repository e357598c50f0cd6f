import type { Series } from '../../components/chart.tsx'
import type { Bucket, UsageResult } from './report.ts'

/** More groups than this are shown as one line. */
const maxGroups = 5
const othersLabel = '(others)'

/** A line for each of the largest groups, and one for the sum of the others. */
export function sumsByGroup<Result>(
  buckets: readonly Bucket<Result>[],
  nameOf: (result: Result) => string,
  valueOf: (result: Result) => number,
): readonly Series[] {
  const shown = largestGroups(buckets, nameOf, valueOf)
  const rows = new Map([...shown, othersLabel].map((name) => [name, buckets.map(() => 0)]))
  for (const [index, { results }] of buckets.entries()) {
    for (const result of results) {
      const name = nameOf(result)
      const row = rows.get(shown.has(name) ? name : othersLabel) ?? []
      row[index] = (row[index] ?? 0) + valueOf(result)
    }
  }
  return [...rows]
    .filter(([name, values]) => name !== othersLabel || values.some((value) => value > 0))
    .map(([label, values]) => ({ label, values }))
}

/** A line for each of the largest groups: percentiles of several groups have no sum. */
export function valuesByGroup(
  buckets: readonly Bucket<UsageResult>[],
  nameOf: (result: UsageResult) => string,
  valueOf: (result: UsageResult) => number | null,
): readonly Series[] {
  const shown = largestGroups(buckets, nameOf, (one) => one.num_model_requests)
  return [...shown].map((label) => ({
    label,
    values: buckets.map(({ results }) => {
      const result = results.find((one) => nameOf(one) === label)
      return result === undefined ? null : valueOf(result)
    }),
  }))
}

function largestGroups<Result>(
  buckets: readonly Bucket<Result>[],
  nameOf: (result: Result) => string,
  valueOf: (result: Result) => number,
): ReadonlySet<string> {
  const sums = new Map<string, number>()
  for (const result of buckets.flatMap(({ results }) => results)) {
    const name = nameOf(result)
    sums.set(name, (sums.get(name) ?? 0) + valueOf(result))
  }
  const largest = [...sums].toSorted(([, one], [, other]) => other - one).slice(0, maxGroups)
  return new Set(largest.map(([name]) => name))
}
