import { visibleText } from '../../components/format.ts'
import type { Series } from '../../components/plot.ts'
import {
  type Bucket,
  type Figures,
  groupKey,
  type Report,
  type Timing,
  type Totals,
  totalsOf,
  type UsageResult,
} from './report.ts'
import type { Grouping } from './groupings.ts'

/** The content of a chart. Bars are parts of a sum. */
export type ChartData = {
  readonly title: string
  readonly unit: 'count' | 'usd' | 'duration'
  readonly kind: 'bars' | 'line'
  readonly series: readonly Series[]
}

/** The start of each bucket. */
export function timesOf({ total }: Report): readonly number[] {
  return total.usage.map(({ start_time }) => start_time)
}

/** The charts of a report. Without groups, a chart shows the parts of its figure. */
export function chartsOf(report: Report): readonly ChartData[] {
  return report.by.length === 0 ? chartsOfTotal(report.total) : chartsOfGroups(report)
}

/** The value of a grouping for people. */
export function valueText(name: Grouping, value: string | null): string {
  if (value !== null) return visibleText(value)
  return name === 'error' ? '(no error)' : '(none)'
}

type ValueOf = (result: UsageResult) => number | null
type Line = readonly [label: string, valueOf: ValueOf]

/** A figure of requests: the lines of a chart of all of them, and the title and the value of one by group. */
type Figure = Pick<ChartData, 'title' | 'unit'> & {
  readonly lines: readonly Line[]
  readonly byGroup: Line
}

const figures: readonly Figure[] = [
  count('Requests', (one) => one.num_model_requests, []),
  count('Tokens', (one) => one.input_tokens + one.output_tokens, [
    ['Input', (one) => one.input_tokens],
    ['Output', (one) => one.output_tokens],
  ]),
  count('Errors', (one) => one.num_failed_requests, [
    ['4xx', (one) => one.num_client_errors],
    ['5xx', (one) => one.num_server_errors],
    ['Other', (one) => one.num_failed_requests - one.num_client_errors - one.num_server_errors],
  ]),
  duration('Latency', 'Median latency', (one) => one.latency_ms),
  duration('Time to first token', 'Median time to first token', (one) => one.first_token_ms),
]

/** A count, whose parts add up to it. */
function count(title: string, valueOf: (result: UsageResult) => number, parts: readonly Line[]): Figure {
  const whole: Line = [title, valueOf]
  return { title, unit: 'count', lines: parts.length === 0 ? [whole] : parts, byGroup: whole }
}

function duration(title: string, byGroup: string, timingOf: (one: UsageResult) => Timing | null): Figure {
  const median: ValueOf = (one) => timingOf(one)?.p50 ?? null
  const high: ValueOf = (one) => timingOf(one)?.p95 ?? null
  const lines: readonly Line[] = [
    ['Median', median],
    ['95th percentile', high],
  ]
  return { title, unit: 'duration', lines, byGroup: [byGroup, median] }
}

function chartsOfTotal({ usage, costs }: Figures): readonly ChartData[] {
  const usd = costs.map(({ results: [result] }) => Number(result?.amount.value ?? 0))
  return [
    { title: 'Cost', unit: 'usd', kind: 'bars', series: [{ label: 'Cost', values: usd }] },
    ...figures.map(({ title, unit, lines }) => {
      // Without requests, a count is 0, and there is no duration.
      const empty = unit === 'count' ? 0 : null
      const series = lines.map(([label, valueOf]) => ({
        label,
        values: usage.map(({ results: [result] }) => (result === undefined ? empty : valueOf(result))),
      }))
      return { title, unit, kind: kindOf(unit), series }
    }),
  ]
}

function chartsOfGroups(report: Report): readonly ChartData[] {
  const { by, groups } = report
  const { usage, costs } = groups
  const shown = largestGroups(report)
  const keyOf: KeyOf = (result) => groupKey(result, by)
  const usd = sumsByGroup(costs, shown, keyOf, (one) => Number(one.amount.value ?? 0))
  return [
    { title: 'Cost', unit: 'usd', kind: 'bars', series: usd },
    ...figures.map(({ unit, byGroup: [title, valueOf] }) => {
      const series =
        unit === 'count'
          ? sumsByGroup(usage, shown, keyOf, (one) => valueOf(one) ?? 0)
          : valuesByGroup(usage, shown, keyOf, valueOf)
      return { title, unit, kind: kindOf(unit), series }
    }),
  ]
}

function kindOf(unit: ChartData['unit']): ChartData['kind'] {
  return unit === 'duration' ? 'line' : 'bars'
}

type KeyOf = (result: Parameters<typeof groupKey>[0]) => string

/** More groups than this are shown as one. */
const maxGroups = 5
const othersLabel = '(others)'

/** Where requests are grouped by error, as many of these are the ones with most errors. */
const maxFailing = 3

/** The labels of the groups with most requests, by their keys. Each chart has the same ones, so that a group has one color. */
function largestGroups({ by, groups: { usage } }: Report): ReadonlyMap<string, string> {
  const groups = totalsOf({ usage, costs: [] }, by)
  const sorted = (field: 'requests' | 'failed') => groups.toSorted((one, other) => other[field] - one[field])
  const largest = sorted('requests')
  const failing = by.includes('error') ? sorted('failed').slice(0, maxFailing) : []
  const shown = [...new Set([...failing, ...largest])].slice(0, maxGroups)
  return new Map(
    largest.filter((group) => shown.includes(group)).map((group) => [group.key, labelOf(group, by)]),
  )
}

function labelOf({ names }: Totals, by: readonly Grouping[]): string {
  return names.map((value, index) => valueText(by[index] ?? 'model', value)).join(' · ')
}

/** A row of bars for each of these groups, and one for the sum of the others. */
function sumsByGroup<Result extends object>(
  buckets: readonly Bucket<Result>[],
  shown: ReadonlyMap<string, string>,
  keyOf: (result: Result) => string,
  valueOf: (result: Result) => number,
): readonly Series[] {
  const others = buckets.map(() => 0)
  const rows = new Map([...shown.keys()].map((key) => [key, buckets.map(() => 0)]))
  for (const [index, { results }] of buckets.entries()) {
    for (const result of results) {
      const row = rows.get(keyOf(result)) ?? others
      row[index] = (row[index] ?? 0) + valueOf(result)
    }
  }
  const series = [...rows].map(([key, values]) => ({ label: shown.get(key) ?? '', values }))
  return others.some((value) => value > 0) ? [...series, { label: othersLabel, values: others }] : series
}

/** A line for each of these groups: percentiles of the others have no sum. */
function valuesByGroup(
  buckets: readonly Bucket<UsageResult>[],
  shown: ReadonlyMap<string, string>,
  keyOf: KeyOf,
  valueOf: (result: UsageResult) => number | null,
): readonly Series[] {
  return [...shown].map(([key, label]) => ({
    label,
    values: buckets.map(({ results }) => {
      const result = results.find((one) => keyOf(one) === key)
      return result === undefined ? null : valueOf(result)
    }),
  }))
}
