import { endOfTime, isDeletedSql, type TotalsTable, type TotalsWidth } from './slices.ts'
import type { UsageFilters } from '../ports/usage.ts'

/** What clients have named, and the columns of `usage` that have it. */
export const namedColumns = { user: 'user', session: 'session', tag: 'tags' } as const

export type Named = keyof typeof namedColumns

/**
 * Whose sums there are: in `usage_sums` of all organizations together and of each, and in `usage_names` the same of what
 * clients have named.
 */
export type SumsLevel = 'all' | 'each' | NamedLevel

/** Those of what clients have named: of all organizations together, or of each. */
export type NamedLevel = `all_${Named}s` | Named

/** The columns of `usage_rollup` with the times that sums begin at, and the tables of these sums. */
export const sumsStarts = {
  summed_from: 'usage_sums',
  named_from: 'usage_names',
  all_named_from: 'usage_names',
} as const

export type SumsStart = keyof typeof sumsStarts

export const allStarts = Object.keys(sumsStarts) as readonly SumsStart[]

/** By which properties the sums of a level are divided, and in which periods. Their other properties are empty. */
type Level = {
  readonly by: ReadonlySet<string>
  readonly widths: readonly [TotalsWidth, ...TotalsWidth[]]
  readonly start: SumsStart
  /** The property by which they are also divided. */
  readonly named?: Named
}

type LevelOf<Name extends SumsLevel> = Name extends NamedLevel ? Level & { readonly named: Named } : Level

const ofAll = { by: new Set<string>(), widths: ['day'], start: 'all_named_from' } as const
const ofEach = { by: new Set(['organization']), widths: ['day'], start: 'named_from' } as const

/**
 * A request has one value of each, so that the sums of a level never have more rows than `usage`, however many users clients
 * name. A report reads the first that has what it needs.
 */
export const sumsLevels: { readonly [Name in SumsLevel]: LevelOf<Name> } = {
  all: { by: new Set(['api', 'model', 'provider']), widths: ['hour', 'day'], start: 'summed_from' },
  each: { ...ofEach, start: 'summed_from' },
  all_users: { ...ofAll, named: 'user' },
  all_sessions: { ...ofAll, named: 'session' },
  all_tags: { ...ofAll, named: 'tag' },
  user: { ...ofEach, named: 'user' },
  session: { ...ofEach, named: 'session' },
  tag: { ...ofEach, named: 'tag' },
}

const levels = Object.keys(sumsLevels) as SumsLevel[]

/** The properties by which the sums of a report are grouped and filtered. */
type SummedBy = UsageFilters & { readonly by: ReadonlySet<string> }

/** Returns the sums that a report can read instead of totals or rows, with periods of this width; undefined if there are none. */
export function sumsFor(
  { organizations, users, sessions, tags, by }: SummedBy,
  width: TotalsWidth,
): SumsLevel | undefined {
  const filtered = Object.entries({ user: users, session: sessions, tag: tags })
  const needed = by.union(new Set(filtered.flatMap(([name, values]) => (values ? [name] : []))))
  return levels.find((level) => {
    const { by, widths, named } = sumsLevels[level]
    const isOfThese = organizations === undefined || (isNamed(level) && !isOfAll(level))
    const isNeeded = named === undefined || needed.has(named)
    return isOfThese && isNeeded && widths.includes(width) && needed.isSubsetOf(new Set([...by, named ?? '']))
  })
}

/** The columns that the sums of a level are divided by: those of tags, by all tags of a request together. */
export function dividersOf(level: SumsLevel): ReadonlySet<string> {
  const { by, named } = sumsLevels[level]
  return named === undefined ? by : new Set([...by, namedColumns[named]])
}

/** Whether the sums are of what clients have named, which the totals do not have: the rows are read where there are no sums. */
export function isNamed(level: SumsLevel): level is NamedLevel {
  return sumsLevels[level].named !== undefined
}

/** Whether the sums are of all organizations together. */
export function isOfAll(level: SumsLevel): boolean {
  return !sumsLevels[level].by.has('organization')
}

/** The names whose sums a report reads; undefined if it needs those of all, or of tags, which have no sums of each. */
export function namesOf(
  level: NamedLevel,
  { users, sessions }: Pick<UsageFilters, 'users' | 'sessions'>,
): readonly string[] | undefined {
  const names = { user: users, session: sessions, tag: undefined }[sumsLevels[level].named]
  return names && [...new Set(names)]
}

/** The levels of the sums that begin at one time. */
export function levelsFrom(start: SumsStart): readonly SumsLevel[] {
  return levels.filter((level) => sumsLevels[level].start === start)
}

/** The table with the sums of a level, or that of the totals. */
export function tableOf(level: SumsLevel | undefined): TotalsTable {
  return level === undefined ? 'usage_totals' : sumsStarts[sumsLevels[level].start]
}

/**
 * SQL that is true for a row of `usage` that is part of the sums, if it is part of the totals. The rows of an organization
 * whose deletion has begun are, because each is subtracted when it is deleted.
 */
export function isSummedSql(start: SumsStart): string {
  return `usage.created_at >= (SELECT ${start} FROM usage_rollup) AND NOT ${isDeletedSql('done')}`
}

/**
 * SQL for the time from which on reports can read the sums of a level. They cannot read those of all organizations together
 * while one is being deleted: some of its rows are still part of the sums.
 */
export function summedFromSql(level: SumsLevel): string {
  const { start } = sumsLevels[level]
  const exclusion = "EXISTS (SELECT 1 FROM organizations WHERE deletion = 'begun')"
  return `(SELECT ${isOfAll(level) ? `CASE WHEN ${exclusion} THEN ${endOfTime} ELSE ${start} END` : start} FROM usage_rollup)`
}
