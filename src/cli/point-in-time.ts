import { parseDuration } from '../config/units.ts'
import { invalidFlag } from './accounts/limit-flags.ts'

/** What `parsePointInTime` accepts, for errors. */
const pointInTimeRule = 'a duration such as 7d or 24h, today, yesterday, or a date such as 2026-11-22'

const dayMs = 86_400_000
/** A hundred years: a date much earlier would overflow. */
const maxSpanMs = 36_500 * dayMs

/**
 * Parses a duration before now, `now`, `today`, `yesterday`, a date or a time, all in UTC; a day stands for its beginning.
 * Returns milliseconds since 1970, or undefined if it is none of them.
 */
export function parsePointInTime(text: string, now: number): number | undefined {
  const today = Math.floor(now / dayMs) * dayMs
  if (text === 'now') return now
  if (text === 'today') return today
  if (text === 'yesterday') return today - dayMs
  const spanMs = parseDuration(text)
  if (spanMs !== undefined) return spanMs > maxSpanMs ? undefined : now - spanMs
  return parseDate(text)
}

/** Reads the flag of a command. Throws `UsageError`. */
export function readPointInTime(command: string, flag: string, text: string, now = Date.now()): number {
  const time = parsePointInTime(text, now)
  if (time !== undefined) return time
  throw invalidFlag(command, flag, pointInTimeRule, text)
}

function parseDate(text: string): number | undefined {
  const [, date, time = 'T00:00', zone = 'Z'] =
    /^((?:19|2\d)\d\d-\d\d-\d\d)([T ]\d\d:\d\d(?::\d\d)?)?(Z|[+-]\d\d:\d\d)?$/.exec(text) ?? []
  if (date === undefined) return undefined
  const midnight = Date.parse(`${date}T00:00Z`)
  // A day that the month does not have is the next month's for `Date`.
  if (Number.isNaN(midnight) || new Date(midnight).toISOString().slice(0, 10) !== date) return undefined
  const milliseconds = Date.parse(`${date}${time.replace(' ', 'T')}${zone}`)
  return Number.isNaN(milliseconds) ? undefined : milliseconds
}
