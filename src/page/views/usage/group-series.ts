import type { Series } from '../../components/chart.tsx'
import type { Bucket, UsageResult } from './report.ts'

/** More groups than this are shown as one line. */
const maxGroups = 5
const othersLabel = '(others)'

/** The groups with most requests: each chart shows them in this order, so that a group has one color. */
export function largestGroups(
  buckets: readonly Bucket<UsageResult>[],
  nameOf: (result: UsageResult) => string,
): ReadonlySet<string> {
  const requests = new Map<string, number>()
  for (const result of buckets.flatMap(({ results }) => results)) {
    const name = nameOf(result)
    requests.set(name, (requests.get(name) ?? 0) + result.num_model_requests)
  }
  const largest = [...requests].toSorted(([, one], [, other]) => other - one).slice(0, maxGroups)
  return new Set(largest.map(([name]) => name))
}

/** A line for each of these groups, and one for the sum of the others. */
export function sumsByGroup<Result>(
  buckets: readonly Bucket<Result>[],
  shown: ReadonlySet<string>,
  nameOf: (result: Result) => string,
  valueOf: (result: Result) => number,
): readonly Series[] {
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

/** A line for each of these groups: percentiles of the others have no sum. */
export function valuesByGroup(
  buckets: readonly Bucket<UsageResult>[],
  shown: ReadonlySet<string>,
  nameOf: (result: UsageResult) => string,
  valueOf: (result: UsageResult) => number | null,
): readonly Series[] {
  return [...shown].map((label) => ({
    label,
    values: buckets.map(({ results }) => {
      const result = results.find((one) => nameOf(one) === label)
      return result === undefined ? null : valueOf(result)
    }),
  }))
}
