import type { Series } from '../../components/chart.tsx'
import { visibleText } from '../../components/format.ts'
import type { Bucket, Figures, Report, Timing, UsageResult } from './report.ts'

/** The label of requests that have no value of the grouping. */
export const noValueLabel = '(none)'

/** The content of a chart. */
export type ChartData = {
  readonly title: string
  readonly unit: 'count' | 'usd' | 'duration'
  readonly kind?: 'bars'
  readonly series: readonly Series[]
}

/** The start of each bucket. */
export function timesOf({ total }: Report): readonly number[] {
  return total.usage.map(({ start_time }) => start_time)
}

/** The charts of a report. Without groups, a chart shows the parts of its figure. */
export function chartsOf(report: Report): readonly ChartData[] {
  return report.by === 'none' ? chartsOfTotal(report.total) : chartsOfGroups(report)
}

type Line = readonly [label: string, valueOf: (result: UsageResult) => number | null]
type LineChart = Pick<ChartData, 'title' | 'unit'> & {
  readonly lines: readonly Line[]
  /** The value of a bucket without requests. */
  readonly empty: number | null
}

const lineCharts: readonly LineChart[] = [
  {
    title: 'Tokens',
    unit: 'count',
    empty: 0,
    lines: [
      ['Input', (one) => one.input_tokens],
      ['Output', (one) => one.output_tokens],
    ],
  },
  {
    title: 'Errors',
    unit: 'count',
    empty: 0,
    lines: [
      ['4xx', (one) => one.num_client_errors],
      ['5xx', (one) => one.num_server_errors],
      ['Other', (one) => one.num_failed_requests - one.num_client_errors - one.num_server_errors],
    ],
  },
  { title: 'Latency', unit: 'duration', empty: null, lines: percentiles((one) => one.latency_ms) },
  {
    title: 'Time to first token',
    unit: 'duration',
    empty: null,
    lines: percentiles((one) => one.first_token_ms),
  },
]

function percentiles(timingOf: (result: UsageResult) => Timing | null): readonly Line[] {
  return [
    ['Median', (one) => timingOf(one)?.p50 ?? null],
    ['95th percentile', (one) => timingOf(one)?.p95 ?? null],
  ]
}

function chartsOfTotal({ usage, costs }: Figures): readonly ChartData[] {
  const series = (empty: number | null, [label, valueOf]: Line): Series => ({
    label,
    values: usage.map(({ results: [result] }) => (result === undefined ? empty : valueOf(result))),
  })
  const usd = costs.map(({ results: [result] }) => Number(result?.amount.value ?? 0))
  return [
    {
      title: 'Requests',
      unit: 'count',
      kind: 'bars',
      series: [series(0, ['Requests', (one) => one.num_model_requests])],
    },
    { title: 'Cost', unit: 'usd', kind: 'bars', series: [{ label: 'USD', values: usd }] },
    ...lineCharts.map(({ title, unit, lines, empty }) => ({
      title,
      unit,
      series: lines.map((line) => series(empty, line)),
    })),
  ]
}

function chartsOfGroups({ by, groups: { usage, costs } }: Report): readonly ChartData[] {
  const nameOf = (result: object) => labelOf(result, by)
  const shown = largestGroups(usage, nameOf)
  const counted = (valueOf: (result: UsageResult) => number) => sumsByGroup(usage, shown, nameOf, valueOf)
  const median = (valueOf: (result: UsageResult) => number | null) =>
    valuesByGroup(usage, shown, nameOf, valueOf)
  const usd = sumsByGroup(costs, shown, nameOf, (one) => Number(one.amount.value ?? 0))
  return [
    { title: 'Requests', unit: 'count', series: counted((one) => one.num_model_requests) },
    { title: 'Cost', unit: 'usd', series: usd },
    {
      title: 'Tokens',
      unit: 'count',
      series: counted((one) => one.input_tokens + one.output_tokens),
    },
    { title: 'Errors', unit: 'count', series: counted((one) => one.num_failed_requests) },
    { title: 'Median latency', unit: 'duration', series: median((one) => one.latency_ms?.p50 ?? null) },
    {
      title: 'Median time to first token',
      unit: 'duration',
      series: median((one) => one.first_token_ms?.p50 ?? null),
    },
  ]
}

function labelOf(result: object, by: string): string {
  const value = (result as Readonly<Record<string, unknown>>)[by]
  return typeof value === 'string' ? visibleText(value) : noValueLabel
}

/** More groups than this are shown as one line. */
const maxGroups = 5
const othersLabel = '(others)'

/** The groups with most requests: each chart shows them in this order, so that a group has one color. */
function largestGroups(
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
function sumsByGroup<Result>(
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
function valuesByGroup(
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
