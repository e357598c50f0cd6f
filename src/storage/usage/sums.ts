import { endOfTime, type UsageReading } from './reports.ts'
import { isDeletedSql, type TotalsWidth } from './slices.ts'

/** Whose sums `usage_sums` has: those of all organizations together, and of each. */
export type SumsLevel = 'all' | 'each'

/** By which properties the sums of a level are divided, and in which periods. Their other properties are empty. */
export const sumsLevels: Readonly<
  Record<
    SumsLevel,
    { readonly by: ReadonlySet<string>; readonly widths: readonly [TotalsWidth, ...TotalsWidth[]] }
  >
> = {
  all: { by: new Set(['api', 'model', 'provider']), widths: ['hour', 'day'] },
  each: { by: new Set(['organization']), widths: ['day'] },
}

/** Returns the sums that a report can read instead of totals with periods of this width; undefined if there are none. */
export function sumsFor({ organizations, by }: UsageReading, width: TotalsWidth): SumsLevel | undefined {
  if (organizations !== undefined) return undefined
  const levels = Object.entries(sumsLevels) as [SumsLevel, (typeof sumsLevels)[SumsLevel]][]
  return levels.find(([, level]) => level.widths.includes(width) && by.isSubsetOf(level.by))?.[0]
}

/**
 * SQL that is true for a row of `usage` that is part of the sums, if it is part of the totals. The rows of an organization
 * whose deletion has begun are, because each is subtracted when it is deleted.
 */
export const isSummedSql = `usage.created_at >= (SELECT summed_from FROM usage_rollup) AND NOT ${isDeletedSql('done')}`

/**
 * SQL for the time from which on reports can read the sums instead of totals. They cannot while an organization is being
 * deleted: some of its rows are still part of the sums.
 */
export const summedFromSql = `(SELECT CASE WHEN EXISTS (SELECT 1 FROM organizations WHERE deletion = 'begun')
  THEN ${endOfTime} ELSE summed_from END FROM usage_rollup)`
