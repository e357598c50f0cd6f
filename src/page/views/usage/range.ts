/** A period that ends now, and the buckets that it is shown in. */
export type Range = {
  readonly label: string
  /** After “in the last”. */
  readonly past: string
  readonly seconds: number
  readonly width: '1m' | '1h' | '1d'
  /** The buckets of a page. Those that the period only touches are shown too. */
  readonly limit: number
}

/** The periods by their name in the address. */
export const ranges = {
  '1h': { label: '1 hour', past: 'hour', seconds: 3600, width: '1m', limit: 61 },
  '24h': { label: '24 hours', past: '24 hours', seconds: 86_400, width: '1h', limit: 25 },
  '7d': { label: '7 days', past: '7 days', seconds: 7 * 86_400, width: '1h', limit: 168 },
  '30d': { label: '30 days', past: '30 days', seconds: 30 * 86_400, width: '1d', limit: 31 },
} as const satisfies Readonly<Record<string, Range>>

export type RangeName = keyof typeof ranges

/** The range with this name in the address; a day for any other name. */
export function rangeNamed(name: string | null): RangeName {
  return name !== null && Object.hasOwn(ranges, name) ? (name as RangeName) : '24h'
}
