import { sql, type SQL } from 'drizzle-orm'
import type { Database } from '../connection/database.ts'
import { usage } from '../../schema/usage.ts'
import { type TimeCount, timingOf } from '../../common/timings.ts'
import { roundedTimeSql, type TimeColumn } from '../../common/usage-totals.ts'
import type { Timings } from '../../ports/usage-report.ts'

/** The rows to read, and their grouping. */
export type TimedRows = {
  /** Replaces the table, if a request may be part of several groups. */
  readonly from: SQL | undefined
  readonly value: SQL
  readonly condition: SQL | undefined
  readonly failed: SQL
}

/** Reads the timings of requests that did not fail: by the value of a group, and in total, counting each request once. */
export function readTimings(database: Database, rows: TimedRows) {
  const latency = readTime(database, rows, 'latency_ms')
  const firstToken = readTime(database, rows, 'first_token_ms')
  return {
    of: (value: string | null): Timings => ({ latency: latency.of(value), firstToken: firstToken.of(value) }),
    total: { latency: latency.total(), firstToken: firstToken.total() },
  }
}

function readTime(database: Database, rows: TimedRows, time: TimeColumn) {
  const counts = readCounts(database, rows, time)
  const byValue = Map.groupBy(counts, ({ value }) => value)
  return {
    of: (value: string | null) => timingOf(byValue.get(value) ?? []),
    total() {
      if (rows.from === undefined) return timingOf(counts)
      return timingOf(readCounts(database, { ...rows, from: undefined, value: sql`null` }, time))
    },
  }
}

/** Counts requests by time; times are rounded down, so that the number of rows stays small. */
function readCounts(
  database: Database,
  { from, value, condition, failed }: TimedRows,
  time: TimeColumn,
): TimeCount[] {
  return database.query.all<TimeCount>(
    sql`select ${value} as value, ${sql.raw(roundedTimeSql(time))} as time, count(*) as count from ${from ?? usage}
      where ${condition} and not ${failed} and ${usage[time]} is not null group by 1, 2`,
  )
}
