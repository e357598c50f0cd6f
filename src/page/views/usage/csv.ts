import { csvLine } from '../../../lib/csv.ts'
import { decimalText } from '../../components/format.ts'
import { nameFields } from './groupings.ts'
import { type CostsResult, groupKey, type Report, type UsageResult } from './report.ts'

/** The name of the file with the figures of a report, with its first and its last day. */
export function csvName({ groups: { usage } }: Report): string {
  const day = (time = 0) => timeText(time).slice(0, 10)
  return `weir-usage-${day(usage[0]?.start_time)}-to-${day((usage.at(-1)?.end_time ?? 1) - 1)}.csv`
}

/** The usage and the cost of a group in a bucket; one of them may be absent if requests were recorded between their reports. */
type Row = {
  readonly start: number
  readonly end: number
  readonly usage?: UsageResult
  readonly costs?: CostsResult
}

/** A column of figures, with the name that the API has for it. */
type Figure = readonly [name: string, valueOf: (row: Row) => string | number | null | undefined]

const figures: readonly Figure[] = [
  ['num_model_requests', ({ usage, costs }) => (usage ?? costs)?.num_model_requests],
  ['cost_usd', ({ costs }) => costs && decimalText(costs.amount.value ?? '')],
  ['num_unpriced_requests', ({ costs }) => costs?.num_unpriced_requests],
  ['num_failed_requests', ({ usage }) => usage?.num_failed_requests],
  ['num_client_errors', ({ usage }) => usage?.num_client_errors],
  ['num_server_errors', ({ usage }) => usage?.num_server_errors],
  ['input_tokens', ({ usage }) => usage?.input_tokens],
  ['input_cached_tokens', ({ usage }) => usage?.input_cached_tokens],
  ['input_cache_write_tokens', ({ usage }) => usage?.input_cache_write_tokens],
  ['output_tokens', ({ usage }) => usage?.output_tokens],
  ['output_reasoning_tokens', ({ usage }) => usage?.output_reasoning_tokens],
  ['latency_ms_p50', ({ usage }) => usage?.latency_ms?.p50],
  ['latency_ms_p95', ({ usage }) => usage?.latency_ms?.p95],
  ['first_token_ms_p50', ({ usage }) => usage?.first_token_ms?.p50],
  ['first_token_ms_p95', ({ usage }) => usage?.first_token_ms?.p95],
]

/** The exact figures of a report after RFC 4180: a line for each group in each bucket that has requests. */
export function csvOf(report: Report): string {
  const { by } = report
  const named = by.flatMap((name) =>
    name in nameFields ? [name, nameFields[name as keyof typeof nameFields]] : [name],
  )
  const header = ['start_time', 'end_time', ...named, ...figures.map(([name]) => name)]
  const lines = rowsOf(report).map((row) => {
    const result = row.usage ?? row.costs
    const values = named.map((name) => result?.[name])
    return [timeText(row.start), timeText(row.end), ...values, ...figures.map(([, valueOf]) => valueOf(row))]
  })
  return [header, ...lines].map((values) => `${csvLine(values)}\r\n`).join('')
}

function rowsOf({ by, groups: { usage, costs } }: Report): readonly Row[] {
  const costsAt = new Map(costs.map(({ start_time, results }) => [start_time, results]))
  return usage.flatMap(({ start_time: start, end_time: end, results }) => {
    const rows = new Map<string, Row>()
    for (const result of results) rows.set(groupKey(result, by), { start, end, usage: result })
    for (const result of costsAt.get(start) ?? []) {
      const key = groupKey(result, by)
      rows.set(key, { start, end, ...rows.get(key), costs: result })
    }
    return [...rows.values()]
  })
}

function timeText(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`
}
