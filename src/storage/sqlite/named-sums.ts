import type { UsageReading } from '../usage/reports.ts'
import type { ReportSlice } from '../usage/slices.ts'
import { isNamed, type NamedLevel } from '../usage/sums.ts'
import type { TotalsRange } from './read-totals.ts'

/** A range of the sums of users, sessions or tags. */
type NamedRange = TotalsRange & { readonly level: NamedLevel }

export function isNamedRange(range: TotalsRange): range is NamedRange {
  return range.level !== undefined && isNamed(range.level)
}

/** The names whose sums a report reads; undefined if it needs those of all, or of tags, which have no sums of each. */
export function namesOf(
  level: NamedLevel,
  { users, sessions }: Pick<UsageReading, 'users' | 'sessions'>,
): readonly string[] | undefined {
  const names = { user: users, session: sessions, tag: undefined }[level]
  return names && [...new Set(names)]
}

/** Returns a function that makes the slices of a report of one with a `value`: none if it is filtered out, one for each tag. */
export function selectNamed(
  level: NamedLevel,
  { by, users, sessions, tags }: UsageReading,
): (slice: ReportSlice) => readonly ReportSlice[] {
  const filter = { user: users, session: sessions, tag: tags }[level]
  const wanted = filter && new Set(filter)
  const isWanted = (name: string) => wanted?.has(name) ?? true
  return (slice) => {
    const names = namesIn(level, slice.value ?? '')
    if (!by.has(level)) return names.some(isWanted) ? [slice] : []
    const found = names.filter(isWanted)
    if (names.length === 0 && wanted === undefined) return [slice]
    return found.map((name) => ({ ...slice, [level]: name }))
  }
}

/** The users, sessions or tags of a `value`. A tag that a request repeats counts once. */
function namesIn(level: NamedLevel, value: string): readonly string[] {
  if (value === '') return []
  return level === 'tag' ? [...new Set<string>(JSON.parse(value))] : [value]
}
