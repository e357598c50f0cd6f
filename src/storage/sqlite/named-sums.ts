import type { UsageReading } from '../usage/reports.ts'
import type { ReportSlice } from '../usage/slices.ts'
import { isNamed, type Named, type NamedLevel, sumsLevels } from '../usage/sums.ts'
import type { TotalsRange } from './read-totals.ts'

/** A range of the sums of users, sessions or tags. */
type NamedRange = TotalsRange & { readonly level: NamedLevel }

export function isNamedRange(range: TotalsRange): range is NamedRange {
  return range.level !== undefined && isNamed(range.level)
}

/** Returns a function that makes the slices of a report of one with a `value`: none if it is filtered out, one for each tag. */
export function selectNamed(
  level: NamedLevel,
  { by, users, sessions, tags }: UsageReading,
): (slice: ReportSlice) => readonly ReportSlice[] {
  const { named } = sumsLevels[level]
  const filter = { user: users, session: sessions, tag: tags }[named]
  const wanted = filter && new Set(filter)
  const isWanted = (name: string) => wanted?.has(name) ?? true
  return (slice) => {
    const names = namesIn(named, slice.value ?? '')
    if (!by.has(named)) return names.some(isWanted) ? [slice] : []
    const found = names.filter(isWanted)
    if (names.length === 0 && wanted === undefined) return [slice]
    return found.map((name) => ({ ...slice, [named]: name }))
  }
}

/** The users, sessions or tags of a `value`. A tag that a request repeats counts once. */
function namesIn(named: Named, value: string): readonly string[] {
  if (value === '') return []
  return named === 'tag' ? [...new Set<string>(JSON.parse(value))] : [value]
}
