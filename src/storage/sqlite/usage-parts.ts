import { lazy } from '../../lib/lazy.ts'
import { isNotEmpty, type TimeRange, type TotalsPeriods, type UsageReading } from '../usage/reports.ts'
import { endOfTime, startOfPeriod, type TotalsWidth, widthsMs } from '../usage/slices.ts'
import {
  isNamed,
  isOfAll,
  namesOf,
  type SumsLevel,
  summedFromSql,
  sumsFor,
  sumsLevels,
} from '../usage/sums.ts'
import type { Database } from './connection/database.ts'
import type { TotalsRange } from './read-totals.ts'

/** What a report reads: totals or sums, and the times of which it reads the rows, as far as the totals cover them. */
type Parts = { readonly totals: readonly TotalsRange[]; readonly rows: readonly TimeRange[] }

/** Returns a function that divides what a report reads at the time from which on there are sums. */
export function prepareParts(database: Database): (reading: UsageReading) => Parts {
  const { summedFrom, levelFor, firstPeriod, ownersOf } = prepareBounds(database)
  return (reading) => {
    const each = lazy(() => ownersOf(reading.organizations))
    const rows: TimeRange[] = []
    const totals = reading.ranges.totals.flatMap((range): readonly TotalsRange[] => {
      const level = levelFor(reading, range)
      const end = level === undefined ? endOfTime : nextPeriod(summedFrom(level), range.width)
      const before = [{ ...range, to: Math.min(range.to, end) }].filter(isNotEmpty)
      const after = [{ ...range, from: Math.max(range.from, end), level }].filter(isNotEmpty)
      const ofSums = after.map((part) => ({ ...part, ...(level && isOfAll(level) ? together : each()) }))
      if (level === undefined || !isNamed(level))
        return [...before.map((part) => ({ ...part, ...each() })), ...ofSums]
      rows.push(...before)
      const names = namesOf(level, reading)
      if (names === undefined) return ofSums
      return ofSums.map((part) => ({ ...part, names, from: Math.max(part.from, firstPeriod(part)) }))
    })
    return { totals, rows }
  }
}

function prepareBounds({ sqlite }: Database) {
  const all = sqlite.prepare<{ readonly id: string }, []>(
    'SELECT id FROM organizations WHERE deletion IS NULL ORDER BY id',
  )
  const first = sqlite.prepare<{ readonly time: number | null }, []>('SELECT min(created_at) time FROM usage')
  const summedFrom = (level: SumsLevel) =>
    sqlite.query<{ readonly time: number }, []>(`SELECT ${summedFromSql(level)} time`).get()?.time ??
    endOfTime
  return {
    summedFrom,
    /** Until the sums of all organizations together reach back to the start of the range, those of each are read. */
    levelFor(reading: UsageReading, { width, from }: TotalsPeriods) {
      const level = sumsFor(reading, width)
      return level && isNamed(level) && summedFrom(level) > from ? sumsLevels[level].named : level
    },
    /** The first period that may have sums: a report that knows their places looks for none before it. */
    firstPeriod: ({ width, from }: TotalsPeriods) => startOfPeriod(first.get()?.time ?? from, width),
    ownersOf: (organizations: UsageReading['organizations']): Owners => ({
      organizations: organizations ?? all.all().map(({ id }) => id),
      areAll: organizations === undefined,
    }),
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
