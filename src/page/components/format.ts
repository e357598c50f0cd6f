import { parseJson } from '../../lib/json/json.ts'

/** Formats a whole number: 12,345. */
export function formatCount(count: number): string {
  return countFormat.format(count)
}

/** Formats a large number in short: 12.3K. */
export function formatShort(count: number): string {
  return shortFormat.format(count)
}

/** Formats a count and, unless there is nothing of it, a part that it includes: 1,200 (300 cached). */
export function countWithPart(count: number, part: number, name: string): string {
  return part === 0 ? formatCount(count) : `${formatCount(count)} (${formatCount(part)} ${name})`
}

/** Formats a ratio as a percentage: 0.4%. */
export function formatPercent(ratio: number): string {
  return percentFormat.format(ratio)
}

/**
 * Numbers have the language of the page, not that of the browser: an amount has a decimal point, and beside it 1.234 must not
 * be a thousand.
 */
export const numberLanguage = 'en'

const countFormat = new Intl.NumberFormat(numberLanguage)
const shortFormat = new Intl.NumberFormat(numberLanguage, { notation: 'compact', maximumFractionDigits: 1 })
const percentFormat = new Intl.NumberFormat(numberLanguage, { style: 'percent', maximumFractionDigits: 1 })

/** Formats a duration in milliseconds: 850 ms, 2.4 s, 3 min 5 s. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`
  const seconds = milliseconds / 1000
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 2 : 1)} s`
  const whole = Math.round(seconds)
  return `${Math.floor(whole / 60)} min ${whole % 60} s`
}

const timeFormats = {
  short: new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' }),
  second: new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' }),
  day: new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' }),
  utcDay: new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' }),
} as const

/** The precision of a time. */
export type TimeFormat = keyof typeof timeFormats

/** Formats a time in the zone of the reader, as text. */
export function formatTime(at: number | string, format: TimeFormat = 'short'): string {
  const date = toDate(at)
  return Number.isNaN(date.getTime()) ? '–' : timeFormats[format].format(date)
}

/** A time as a date: Unix seconds, as in the API, or an ISO 8601 text. */
export function toDate(at: number | string): Date {
  return new Date(typeof at === 'number' ? at * 1000 : at)
}

/**
 * The decimal text of an amount. A number of JSON has at most nine decimals, and below a million dollars a float has
 * them all: its shortest text is the one that was sent.
 */
export function decimalText(usd: string | number): string {
  if (typeof usd === 'string') return usd
  const text = usd.toFixed(9)
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text
}

/** JSON with indentation; any other text as it is, such as arguments of a tool that are still arriving. */
export function prettyJson(text: string): string {
  const value = parseJson(text)
  return value === undefined ? text : JSON.stringify(value, null, 2)
}

/** Characters that change how others are shown, or that a terminal obeys: escapes, overrides of the direction. */
const hidden = /(?![\t\n])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu

/** Makes control characters and overrides of the direction visible, so that a text cannot pose as another one. */
export function visibleText(text: string): string {
  return text.replace(hidden, (character) => {
    const code = character.charCodeAt(0)
    if (code === 13) return ''
    if (code < 32) return String.fromCharCode(0x2400 + code)
    return `[U+${code.toString(16).toUpperCase().padStart(4, '0')}]`
  })
}

/** An exact amount with its sign and every decimal: `-$12.345678901`. */
export function exactUsd(usd: string): string {
  return usd.startsWith('-') ? `-$${usd.slice(1)}` : `$${usd}`
}
