import type { Nanos } from '../../lib/usd.ts'

/** Percentiles in milliseconds, of times that are rounded down to two digits. */
export type Timing = { readonly p50: number; readonly p95: number }

/** The timings of a group; null if none of its requests has a time. */
export type Timings = { readonly latency: Timing | null; readonly firstToken: Timing | null }

/** What requests can be grouped by; a day is a UTC day. */
export const usageGroupings = ['model', 'provider', 'org', 'key', 'tag', 'day', 'error'] as const

export type UsageGrouping = (typeof usageGroupings)[number]

/** The requests of a report, and their grouping. Times are milliseconds since 1970. */
export type UsageQuery = {
  /** The name of an organization; all organizations if absent. */
  readonly organization?: string
  readonly by: UsageGrouping
  readonly since: number
  /** Exclusive; now if absent. */
  readonly until?: number
}

/** Totals of a set of requests. */
export type UsageSums = Timings & {
  readonly requests: number
  /** Requests that ended with an error, also in the middle of a stream. */
  readonly failed: number
  /** Requests with a status from 400 to 498: errors of the client. */
  readonly clientErrors: number
  /** Requests with a status of 500 or more: errors of a provider or of the gateway. */
  readonly serverErrors: number
  readonly promptTokens: number
  readonly completionTokens: number
  readonly cachedTokens: number
  readonly reasoningTokens: number
  /** The sum of the known costs; null if there are tokens and no cost is known. */
  readonly cost: Nanos | null
  /** Requests with tokens and no known cost, because their model has no price. */
  readonly unpriced: number
}

export type UsageGroup = UsageSums & {
  /** The model, the id of the key, the name of the organization, …; null for requests without one. */
  readonly value: string | null
  /** The name of a key. */
  readonly name: string | null
}

export type UsageReport = {
  /**
   * Sorted by day, including days without requests, or by cost, the most expensive first. A request with several tags
   * counts in several groups.
   */
  readonly groups: readonly UsageGroup[]
  /** Counts each request once. */
  readonly total: UsageSums
}
