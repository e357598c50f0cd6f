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

/** Divides what a report reads at the time from which on there are sums. */
export function partsOf(database: Database, reading: UsageReading): Parts {
  const each = lazy(() => ownersOf(database, reading.organizations))
  const rows: TimeRange[] = []
  const totals = reading.ranges.totals.flatMap((range): readonly TotalsRange[] => {
    const level = levelFor(database, reading, range)
    const end = level === undefined ? endOfTime : nextPeriod(summedFrom(database, level), range.width)
    const before = [{ ...range, to: Math.min(range.to, end) }].filter(isNotEmpty)
    const after = [{ ...range, from: Math.max(range.from, end), level }].filter(isNotEmpty)
    const ofSums = after.map((part) => ({ ...part, ...(level && isOfAll(level) ? together : each()) }))
    if (level === undefined || !isNamed(level))
      return [...before.map((part) => ({ ...part, ...each() })), ...ofSums]
    rows.push(...before)
    const names = namesOf(level, reading)
    if (names === undefined) return ofSums
    return ofSums.map((part) => ({ ...part, names, from: Math.max(part.from, firstPeriod(database, part)) }))
  })
  return { totals, rows }
}

/** Until the sums of all organizations together reach back to the start of the range, those of each are read. */
function levelFor(database: Database, reading: UsageReading, { width, from }: TotalsPeriods) {
  const level = sumsFor(reading, width)
  return level && isNamed(level) && summedFrom(database, level) > from ? sumsLevels[level].named : level
}

function summedFrom({ prepared }: Database, level: SumsLevel): number {
  return prepared<{ readonly time: number }>(`SELECT ${summedFromSql(level)} time`).get()?.time ?? endOfTime
}

/** The first period that may have sums: a report that knows their places looks for none before it. */
function firstPeriod({ prepared }: Database, { width, from }: TotalsPeriods): number {
  const first = prepared<{ readonly time: number | null }>('SELECT min(created_at) time FROM usage').get()
  return startOfPeriod(first?.time ?? from, width)
}

type Owners = Pick<TotalsRange, 'organizations' | 'areAll'>

function ownersOf({ prepared }: Database, organizations: UsageReading['organizations']): Owners {
  if (organizations !== undefined) return { organizations, areAll: false }
  const all = prepared<{ readonly id: string }>(
    'SELECT id FROM organizations WHERE deletion IS NULL ORDER BY id',
  )
  return { organizations: all.all().map(({ id }) => id), areAll: true }
}

/** The first time at or after this one at which a period begins. */
export function nextPeriod(time: number, width: TotalsWidth): number {
  return Math.ceil(time / widthsMs[width]) * widthsMs[width]
}

const together: Owners = { organizations: [''], areAll: false }

/** The end of the periods of a range to which no more rows are added, if all rows before `until` are. */
export function wholeBefore(until: number, { width, from, to }: TotalsRange): number {
  return Math.max(from, Math.min(to, startOfPeriod(until, width)))
}
