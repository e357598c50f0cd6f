import { RecentMap } from '../../lib/recent-map.ts'
import type { BudgetPeriod } from './allowance.ts'

/** A period of a budget, in milliseconds since 1970. */
export type Period = {
  /** 0 for a budget without periods. */
  readonly start: number
  /** When the next one begins; undefined for a budget without periods. */
  readonly end: number | undefined
}

const noPeriod: Period = { start: 0, end: undefined }

/** A time zone has a few. */
const maxCalendars = 2048
/** The last period of each calendar, which most requests are in. */
const current = new RecentMap<string, Period>(maxCalendars)

/** Returns the period of a budget at this time, by the calendar of the time zone. */
export function periodAt(period: BudgetPeriod, timeZone: string, now: number): Period {
  if (period === 'none') return noPeriod
  const calendar = `${period} ${timeZone}`
  const known = current.get(calendar)
  if (known?.end !== undefined && known.start <= now && now < known.end) return known
  const found = findPeriod(period, timeZone, now)
  current.set(calendar, found)
  return found
}

function findPeriod(period: Exclude<BudgetPeriod, 'none'>, timeZone: string, now: number): Period {
  const today = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timeZone).toPlainDate()
  const first = firstDay(period, today)
  const next = first.add({ [`${period}s`]: 1 })
  return { start: beginning(first, timeZone), end: beginning(next, timeZone) }
}

function firstDay(period: Exclude<BudgetPeriod, 'none'>, date: Temporal.PlainDate): Temporal.PlainDate {
  if (period === 'month') return date.with({ day: 1 })
  return period === 'week' ? date.subtract({ days: date.dayOfWeek - 1 }) : date
}

/** A day begins at its first moment, also where the clocks skip midnight. */
function beginning(date: Temporal.PlainDate, timeZone: string): number {
  return date.toZonedDateTime(timeZone).epochMilliseconds
}

/** Whether the text is the name of a time zone that calendars can have. */
export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}
