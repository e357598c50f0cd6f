import { formatTime } from '../../components/format.ts'

/** A period that ends now, and the buckets that it is shown in. */
type Range = {
  readonly label: string
  /** After “in the last”. */
  readonly past: string
  readonly seconds: number
  readonly width: Width
}

type Width = '1m' | '1h' | '1d'

/** The periods by their name in the address. */
export const ranges = {
  '1h': { label: '1 hour', past: 'hour', seconds: 3600, width: '1m' },
  '24h': { label: '24 hours', past: '24 hours', seconds: 86_400, width: '1h' },
  '7d': { label: '7 days', past: '7 days', seconds: 7 * 86_400, width: '1h' },
  '30d': { label: '30 days', past: '30 days', seconds: 30 * 86_400, width: '1d' },
} as const satisfies Readonly<Record<string, Range>>

/** The name of a range in the address. */
export type RangeName = keyof typeof ranges

/** A period of whole days of UTC, such as `2026-11-22`; the last one is part of it. */
export type Days = { readonly first: string; readonly last: string }

/** The period that usage is shown of. */
export type Period = RangeName | Days

/** A period in Unix seconds, and its buckets; the last one, which it only touches, is part of a report. */
export type Span = { readonly start: number; readonly end: number; readonly width: Width }

/** The length of a bucket in seconds. */
export const widthSeconds = { '1m': 60, '1h': 3600, '1d': 86_400 } as const satisfies Readonly<
  Record<Width, number>
>
const daySeconds = widthSeconds['1d']
/** A longer period has a bucket for each day. */
const maxHourlyDays = 7
/** Ten years, and the leap days of these. */
const maxDays = 3653

/** Returns the times of a period at `now`, in Unix seconds. It begins with a bucket: a list has what a report counts. */
export function spanOf(period: Period, now: number): Span {
  if (typeof period === 'string') {
    const { seconds, width } = ranges[period]
    const start = now - seconds
    return { start: start - (start % widthSeconds[width]), end: now, width }
  }
  const start = Date.parse(period.first) / 1000
  const end = Date.parse(period.last) / 1000 + daySeconds
  return { start, end, width: end - start > maxHourlyDays * daySeconds ? '1d' : '1h' }
}

/** Reads the period of an address; undefined if it names none. */
export function readPeriod(query: URLSearchParams): Period | undefined {
  const range = query.get('range')
  const named = range !== null && Object.hasOwn(ranges, range) ? (range as RangeName) : undefined
  return readDays(query.get('from'), query.get('to')) ?? named
}

/** The part of the query of an address that names a period. */
export function addressOf(period: Period): Readonly<Record<string, string>> {
  return typeof period === 'string' ? { range: period } : { from: period.first, to: period.last }
}

/** Returns the period of days of an address or of two fields; undefined if they are none, not in order or too many. */
export function readDays(first: string | null, last: string | null): Days | undefined {
  if (first === null || last === null || !isDay(first) || !isDay(last)) return undefined
  return daysProblem({ first, last }) === undefined ? { first, last } : undefined
}

/** What is wrong with the last of two days, if something is. A text that is no day is not complete yet. */
export function daysProblem({ first, last }: Days): string | undefined {
  if (!isDay(first) || !isDay(last)) return undefined
  if (first > last) return 'Before the first day'
  const days = (Date.parse(last) - Date.parse(first)) / 1000 / daySeconds
  return days >= maxDays ? 'More than ten years later' : undefined
}

/** Years before 2000 are those of a year that is being typed. */
function isDay(text: string): boolean {
  if (!/^2\d{3}-\d\d-\d\d$/.test(text)) return false
  const time = Date.parse(text)
  // Some browsers read February 31 as a day of March.
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}

/** The days of a period at `now`, in Unix seconds. */
export function daysOf(period: Period, now: number): Days {
  if (typeof period !== 'string') return period
  const day = (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, 10)
  return { first: day(now - ranges[period].seconds), last: day(now) }
}

/** A period as part of a sentence: `in the last 24 hours`. */
export function periodText(period: Period): string {
  if (typeof period === 'string') return `in the last ${ranges[period].past}`
  const [first, last] = [formatTime(period.first, 'utcDay'), formatTime(period.last, 'utcDay')]
  return first === last ? `on ${first}` : `from ${first} to ${last}`
}
