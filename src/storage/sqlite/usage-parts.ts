import { lazy } from '../../lib/lazy.ts'
import { endOfTime, isNotEmpty, type UsageReading } from '../usage/reports.ts'
import { startOfPeriod, type TotalsWidth, widthsMs } from '../usage/slices.ts'
import { summedFromSql, sumsFor } from '../usage/sums.ts'
import type { Database } from './connection/database.ts'
import type { TotalsRange } from './usage-slices.ts'

/**
 * Returns a function that divides the totals that a report reads into those of `usage_totals`, and those from which on there
 * are sums instead.
 */
export function prepareParts({ sqlite }: Database): (reading: UsageReading) => readonly TotalsRange[] {
  const summedFrom = sqlite.prepare<{ readonly time: number }, []>(`SELECT ${summedFromSql} time`)
  const all = sqlite.prepare<{ readonly id: string }, []>(
    'SELECT id FROM organizations WHERE deletion IS NULL ORDER BY id',
  )
  const ownersOf = (organizations: UsageReading['organizations']): Owners => ({
    organizations: organizations ?? all.all().map(({ id }) => id),
    areAll: organizations === undefined,
  })

  return (reading) => {
    const from = summedFrom.get()?.time ?? endOfTime
    const each = lazy(() => ownersOf(reading.organizations))
    return reading.ranges.totals.flatMap((range): readonly TotalsRange[] => {
      const level = sumsFor(reading, range.width)
      const end = level === undefined ? endOfTime : nextPeriod(from, range.width)
      const before = { ...range, to: Math.min(range.to, end), table: 'usage_totals' as const }
      const after = { ...range, from: Math.max(range.from, end), table: 'usage_sums' as const }
      return [
        ...[before].filter(isNotEmpty).map((part) => ({ ...part, ...each() })),
        ...[after].filter(isNotEmpty).map((part) => ({ ...part, ...(level === 'all' ? together : each()) })),
      ]
    })
  }
}

type Owners = Pick<TotalsRange, 'organizations' | 'areAll'>

/** The first time at or after this one at which a period begins. */
function nextPeriod(time: number, width: TotalsWidth): number {
  return Math.ceil(time / widthsMs[width]) * widthsMs[width]
}

const together: Owners = { organizations: [''], areAll: false }

/** The end of the periods of a range to which no more rows are added, if all rows before `until` are. */
export function wholeBefore(until: number, { width, from, to }: TotalsRange): number {
  return Math.max(from, Math.min(to, startOfPeriod(until, width)))
}
