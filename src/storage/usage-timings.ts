import { type SQL, sql } from 'drizzle-orm'
import type { Database } from './database.ts'
import { usage } from './tables.ts'

/** Milliseconds that half of the requests stay within, and 95 of 100. */
export type Timing = { readonly p50: number; readonly p95: number }

/** What of it is known of a group; absent where no request of it has a time. */
export type TimingsRow = { readonly latency?: Timing; readonly firstToken?: Timing }

/** Which rows, and by what they are grouped. */
export type TimedRows = {
  readonly from: SQL | typeof usage
  readonly value: SQL
  readonly asked: SQL | undefined
  readonly failed: SQL
}

/** The times of each group by its value, of the requests that did not fail. */
export function timingsOf(database: Database, rows: TimedRows): Map<string | null, TimingsRow> {
  const timings = new Map<string | null, TimingsRow>()
  const add = (name: keyof TimingsRow, { value, p50, p95 }: Row) =>
    timings.set(value, { ...timings.get(value), [name]: { p50, p95 } })
  for (const row of percentiles(database, rows, sql`${usage.latency_ms}`)) add('latency', row)
  for (const row of percentiles(database, rows, sql`${usage.first_token_ms}`)) add('firstToken', row)
  return timings
}

type Row = Timing & { readonly value: string | null }

/** By nearest rank, counted from 1. */
function percentiles(database: Database, { from, value, asked, failed }: TimedRows, time: SQL): Row[] {
  const ranked = sql`select ${value} as value, ${time} as time,
      row_number() over (partition by ${value} order by ${time}) as rank, count(*) over (partition by ${value}) as size
    from ${from} where ${asked} and not ${failed} and ${time} is not null`
  return database.query.all<Row>(
    sql`select value, min(case when rank * 100 >= size * 50 then time end) as p50,
      min(case when rank * 100 >= size * 95 then time end) as p95 from (${ranked}) group by value`,
  )
}
