import type { UsageReading } from '../usage/reports.ts'
import type { ReportSlice } from '../usage/slices.ts'
import { isNamed, type NamedLevel } from '../usage/sums.ts'
import type { prepareReadTotals, TotalsRange } from './read-totals.ts'

/** The totals of one batch. */
export const batchTotals = 1000
/** The most that are read at once where rows are added to them between two batches: some 20 milliseconds. */
export const maxAtOnce = 10_000

type ReadTotals = ReturnType<typeof prepareReadTotals>

/** A range of the sums of users, sessions or tags. */
type NamedRange = TotalsRange & { readonly level: NamedLevel }

export function isNamedRange(range: TotalsRange): range is NamedRange {
  return range.level !== undefined && isNamed(range.level)
}

/** Reads the totals of an organization in batches. */
export function* totalsPages(totals: ReadTotals, organization: string, range: TotalsRange) {
  let page = totals.read(range, totals.start(organization, range), batchTotals)
  for (; page.next !== undefined; page = totals.read(range, page.next, batchTotals)) yield page.slices
  yield page.slices
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
