import type { UsageReading } from '../usage/reports.ts'
import { type CountField, type ReportSlice, sumColumnsOf } from '../usage/slices.ts'

/** A slice whose counts are one text, in the order of `sumColumnsOf`: each column of a row takes time. */
export type SliceRow = Omit<ReportSlice, CountField> & { readonly counts: string }

/** Returns a function that reads the counts of a row. */
export function sliceReader({ sums }: Pick<UsageReading, 'sums'>): (row: SliceRow) => ReportSlice {
  const fields = sumColumnsOf(sums).map(([, field]) => field)
  return (row) => {
    const slice: SliceRow & Partial<Record<CountField, number>> = row
    const counts = JSON.parse(`[${row.counts}]`) as readonly number[]
    for (const [index, field] of fields.entries()) slice[field] = counts[index] ?? 0
    return slice
  }
}
