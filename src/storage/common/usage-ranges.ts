import { type BucketWidth, bucketWidths } from '../ports/usage-buckets.ts'
import type { TotalsWidth } from './usage-totals.ts'

/** A range of times; `to` is exclusive. */
export type TimeRange = { readonly from: number; readonly to: number }

/** What a report reads, so that each request counts once. */
export type UsageRanges = {
  readonly totals: readonly (TimeRange & { readonly width: TotalsWidth })[]
  /** The range of all totals: of the rows in it, those are read that are not part of the totals. */
  readonly covered: TimeRange
  /** Where all rows are read. */
  readonly rows: readonly TimeRange[]
}

/** Returns the ranges of a report by period, whose ends are those of periods. */
export function rangesByPeriod(width: TotalsWidth, { from, to }: TimeRange): UsageRanges {
  const range = { from, to }
  return { totals: [{ width, ...range }], covered: range, rows: [] }
}

/** Returns the ranges of a report that needs the rows themselves. */
export function rowsOf({ from, to }: TimeRange): UsageRanges {
  return { totals: [], covered: { from, to: from }, rows: [{ from, to }] }
}

/** Returns the ranges for any times: days, the hours before and after them, and the rows of the parts of hours that remain. */
export function rangesOf({ from, to }: TimeRange): UsageRanges {
  const hours = within(from, to, '1h')
  if (hours === undefined) return rowsOf({ from, to })
  const days = within(hours.from, hours.to, '1d')
  const parts = [
    { from, to: hours.from },
    { from: hours.to, to },
  ]
  return {
    totals: days
      ? [
          { width: 'hour' as const, from: hours.from, to: days.from },
          { width: 'day' as const, ...days },
          { width: 'hour' as const, from: days.to, to: hours.to },
        ].filter(isNotEmpty)
      : [{ width: 'hour', ...hours }],
    covered: hours,
    rows: parts.filter(isNotEmpty),
  }
}

/** The whole periods in a range; undefined if there are none. */
function within(from: number, to: number, width: BucketWidth): TimeRange | undefined {
  const widthMs = bucketWidths[width]
  const whole = { from: Math.ceil(from / widthMs) * widthMs, to: Math.floor(to / widthMs) * widthMs }
  return isNotEmpty(whole) ? whole : undefined
}

/** Whether there are times in a range. */
export function isNotEmpty({ from, to }: TimeRange): boolean {
  return from < to
}
