import { endOfTime, isDeletedSql, type TotalsTable, type TotalsWidth } from './slices.ts'
import type { UsageFilters } from '../ports/usage.ts'

/** Whose sums there are: in `usage_sums` of all organizations together and of each, and in `usage_names` of the others. */
export type SumsLevel = 'all' | 'each' | NamedLevel

/** Those of what clients have named. */
export type NamedLevel = 'user' | 'session' | 'tag'

/** By which properties the sums of a level are divided, and in which periods. Their other properties are empty. */
type Level = {
  readonly by: ReadonlySet<string>
  readonly widths: readonly [TotalsWidth, ...TotalsWidth[]]
  /** The column of `usage` that they are also divided by. */
  readonly named?: 'user' | 'session' | 'tags'
}

const ofEach = { by: new Set(['organization']), widths: ['day'] } as const

/** A request has one value of each, so that the sums never have more rows than `usage`, however many users clients name. */
export const sumsLevels: Readonly<Record<SumsLevel, Level>> = {
  all: { by: new Set(['api', 'model', 'provider']), widths: ['hour', 'day'] },
  each: ofEach,
  user: { ...ofEach, named: 'user' },
  session: { ...ofEach, named: 'session' },
  tag: { ...ofEach, named: 'tags' },
}

/** What the sums of a report are grouped and filtered by. */
export type SummedBy = UsageFilters & { readonly by: ReadonlySet<string> }

/** Returns the sums that a report can read instead of totals or rows, with periods of this width; undefined if there are none. */
export function sumsFor(
  { organizations, users, sessions, tags, by }: SummedBy,
  width: TotalsWidth,
): SumsLevel | undefined {
  const named = Object.entries({ user: users, session: sessions, tag: tags })
  const needed = by.union(new Set(named.flatMap(([name, values]) => (values ? [name] : []))))
  const levels = Object.entries(sumsLevels) as [SumsLevel, Level][]
  const found = levels.find(
    ([name, level]) => level.widths.includes(width) && needed.isSubsetOf(new Set([...level.by, name])),
  )?.[0]
  return found !== undefined && (isNamed(found) || organizations === undefined) ? found : undefined
}

/** Whether the sums are of what clients have named, which the totals do not have: the rows are read where there are no sums. */
export function isNamed(level: SumsLevel): level is NamedLevel {
  return sumsLevels[level].named !== undefined
}

/** The tables with sums, and the columns of `usage_rollup` with the times that they begin at. */
export const sumsTables = { usage_sums: 'summed_from', usage_names: 'named_from' } as const

export type SumsTable = keyof typeof sumsTables

/** The table with the sums of a level, or that of the totals. */
export function tableOf(level: SumsLevel): SumsTable
export function tableOf(level: SumsLevel | undefined): TotalsTable
export function tableOf(level: SumsLevel | undefined): TotalsTable {
  if (level === undefined) return 'usage_totals'
  return isNamed(level) ? 'usage_names' : 'usage_sums'
}

/**
 * SQL that is true for a row of `usage` that is part of the sums, if it is part of the totals. The rows of an organization
 * whose deletion has begun are, because each is subtracted when it is deleted.
 */
export function isSummedSql(table: SumsTable): string {
  return `usage.created_at >= (SELECT ${sumsTables[table]} FROM usage_rollup) AND NOT ${isDeletedSql('done')}`
}

/**
 * SQL for the time from which on reports can read the sums of a level. They cannot read those of all organizations together
 * while one is being deleted: some of its rows are still part of the sums.
 */
export function summedFromSql(level: SumsLevel): string {
  const from = sumsTables[tableOf(level)]
  const exclusion = "EXISTS (SELECT 1 FROM organizations WHERE deletion = 'begun')"
  return `(SELECT ${level === 'all' ? `CASE WHEN ${exclusion} THEN ${endOfTime} ELSE ${from} END` : from} FROM usage_rollup)`
}
