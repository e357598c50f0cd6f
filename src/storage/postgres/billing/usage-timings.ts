import { type TimeCount, timingOf } from '../../common/timings.ts'
import { roundedTimeSql, type TimeColumn } from '../../common/usage-totals.ts'
import type { Timing, Timings } from '../../ports/usage-report.ts'
import type { Query } from '../connection/connections.ts'

/** A report may read millions of rows. */
export const reportTimeoutMs = 5 * 60_000

/** The rows to read, and their grouping, as SQL. */
export type TimedRows = {
  readonly from: string
  readonly value: string
  readonly condition: string
  readonly values: readonly unknown[]
  readonly failed: string
}

/** Reads the timings of requests that did not fail: by the value of a group, and in total, counting each request once. */
export async function readTimings(query: Query, rows: TimedRows) {
  const latency = await readTime(query, rows, 'latency_ms')
  const firstToken = await readTime(query, rows, 'first_token_ms')
  return {
    of: (value: string | null): Timings => ({ latency: latency.of(value), firstToken: firstToken.of(value) }),
    total: { latency: latency.total, firstToken: firstToken.total },
  }
}

async function readTime(query: Query, rows: TimedRows, time: TimeColumn) {
  const byValue = Map.groupBy(await readCounts(query, rows, time), ({ value }) => value)
  const all = await readCounts(query, { ...rows, from: 'usage', value: 'NULL' }, time)
  return {
    of: (value: string | null): Timing | null => timingOf(byValue.get(value) ?? []),
    total: timingOf(all),
  }
}

/** Counts requests by time; times are rounded down, so that the number of rows stays small. */
function readCounts(
  query: Query,
  { from, value, condition, values, failed }: TimedRows,
  time: TimeColumn,
): Promise<readonly TimeCount[]> {
  return query<TimeCount>(
    `SELECT ${value} AS value, ${roundedTimeSql(time)} AS time, count(*) AS count FROM ${from}
    WHERE ${condition} AND NOT ${failed} AND usage.${time} IS NOT NULL GROUP BY 1, 2`,
    values,
    reportTimeoutMs,
  )
}
