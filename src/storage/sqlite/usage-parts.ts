import { lazy } from '../../lib/lazy.ts'
import { isNotEmpty, type TimeRange, type UsageReading } from '../usage/reports.ts'
import { endOfTime, startOfPeriod, type TotalsWidth, widthsMs } from '../usage/slices.ts'
import { isNamed, type SumsLevel, summedFromSql, sumsFor } from '../usage/sums.ts'
import type { Database } from './connection/database.ts'
import { namesOf } from './named-sums.ts'
import type { TotalsRange } from './read-totals.ts'

/** What a report reads: totals or sums, and the times of which it reads the rows, as far as the totals cover them. */
type Parts = { readonly totals: readonly TotalsRange[]; readonly rows: readonly TimeRange[] }

/** Returns a function that divides what a report reads at the time from which on there are sums. */
export function prepareParts({ sqlite }: Database): (reading: UsageReading) => Parts {
  const summedFrom = (level: SumsLevel) =>
    sqlite.query<{ readonly time: number }, []>(`SELECT ${summedFromSql(level)} time`).get()?.time ??
    endOfTime
  const all = sqlite.prepare<{ readonly id: string }, []>(
    'SELECT id FROM organizations WHERE deletion IS NULL ORDER BY id',
  )
  const first = sqlite.prepare<{ readonly time: number | null }, []>('SELECT min(created_at) time FROM usage')
  /** What is looked for at each place of a range does not begin before all rows. */
  const withNames = (range: TotalsRange, names: TotalsRange['names']): TotalsRange =>
    names
      ? {
          ...range,
          names,
          from: Math.max(range.from, startOfPeriod(first.get()?.time ?? range.from, range.width)),
        }
      : range
  const ownersOf = (organizations: UsageReading['organizations']): Owners => ({
    organizations: organizations ?? all.all().map(({ id }) => id),
    areAll: organizations === undefined,
  })

  return (reading) => {
    const each = lazy(() => ownersOf(reading.organizations))
    const rows: TimeRange[] = []
    const totals = reading.ranges.totals.flatMap((range): readonly TotalsRange[] => {
      const level = sumsFor(reading, range.width)
      const end = level === undefined ? endOfTime : nextPeriod(summedFrom(level), range.width)
      const before = [{ ...range, to: Math.min(range.to, end) }].filter(isNotEmpty)
      const after = [{ ...range, from: Math.max(range.from, end), level }].filter(isNotEmpty)
      const ofSums = after.map((part) =>
        withNames(
          { ...part, ...(level === 'all' ? together : each()) },
          level && isNamed(level) ? namesOf(level, reading) : undefined,
        ),
      )
      if (level === undefined || !isNamed(level))
        return [...before.map((part) => ({ ...part, ...each() })), ...ofSums]
      rows.push(...before)
      return ofSums
    })
    return { totals, rows }
  }
}

type Owners = Pick<TotalsRange, 'organizations' | 'areAll'>

/** The first time at or after this one at which a period begins. */
export function nextPeriod(time: number, width: TotalsWidth): number {
  return Math.ceil(time / widthsMs[width]) * widthsMs[width]
}

const together: Owners = { organizations: [''], areAll: false }

/** The end of the periods of a range to which no more rows are added, if all rows before `until` are. */
export function wholeBefore(until: number, { width, from, to }: TotalsRange): number {
  return Math.max(from, Math.min(to, startOfPeriod(until, width)))
}
