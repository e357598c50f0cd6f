import type { Nanos } from '../../lib/usd.ts'

/** Percentiles in milliseconds, of times that are rounded down to two digits. */
export type Timing = { readonly p50: number; readonly p95: number }

/** The timings of a group; null if none of its requests has a time. */
export type Timings = { readonly latency: Timing | null; readonly firstToken: Timing | null }

/** The properties that requests can be grouped by; a day is a UTC day. */
export const usageGroupings = [
  'model',
  'provider',
  'org',
  'project',
  'key',
  'user',
  'session',
  'tag',
  'day',
  'error',
] as const

export type UsageGrouping = (typeof usageGroupings)[number]

/** The requests of a report, and their grouping. Times are milliseconds since 1970. */
export type UsageQuery = {
  /** The name of an organization; all organizations if absent. */
  readonly organization?: string
  /** At least one. */
  readonly by: readonly UsageGrouping[]
  readonly since: number
  /** Exclusive; now if absent. */
  readonly until?: number
  readonly filters?: Omit<UsageFilters, 'organizations'>
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
  /** The model, the ids of the project and the key, the name of the organization, … in the order of the query; null for requests without one. */
  readonly values: readonly (string | null)[]
  /** The names of the project and of the key, of groups by them. */
  readonly names: Readonly<Partial<Record<'project' | 'key', string | null>>>
}

export type UsageReport = {
  /**
   * Sorted by day, and then by cost, the most expensive first; groups by day alone include days without requests. A
   * request with several tags counts in several groups.
   */
  readonly groups: readonly UsageGroup[]
  /** Counts each request once. */
  readonly total: UsageSums
}

/** A property that the requests of a report can be grouped by. A project is that of the key at the time of the request. */
export type UsageDimension =
  'organization' | 'project' | 'key' | 'api' | 'model' | 'provider' | 'user' | 'session' | 'tag' | 'error'

/** Only requests with one of these values, for each list that is present. Organizations, projects and keys by their ids. */
export type UsageFilters = Readonly<
  Partial<
    Record<
      'organizations' | 'projects' | 'keys' | 'models' | 'users' | 'sessions' | 'tags',
      readonly string[] | undefined
    >
  >
>

/** The lengths of buckets in milliseconds, by name. */
export const bucketWidths = { '1m': 60_000, '1h': 3_600_000, '1d': 86_400_000 } as const

export type BucketWidth = keyof typeof bucketWidths

/** What a report has beside the numbers of requests: their tokens, errors and times, or their costs, or all of that. */
export type ReportSums = 'usage' | 'costs' | 'all'

/** The requests of a report by period. Times are milliseconds since 1970. */
export type UsageBucketQuery = UsageFilters & {
  /** The length of the buckets; absent: one bucket, which starts at 0. */
  readonly width?: BucketWidth | undefined
  readonly from: number
  /** Exclusive; the end of time if absent. */
  readonly to?: number | undefined
  readonly groupBy: readonly UsageDimension[]
  /** All if absent. Fewer are read faster; the others are 0, and percentiles null. */
  readonly sums?: ReportSums | undefined
}

/** Totals of the requests of a bucket. */
export type UsageTotals = UsageSums & { readonly cacheWriteTokens: number }

/** The requests of a bucket that have the same values of the dimensions. */
export type UsageBucketGroup = {
  readonly start: number
  /** The value of each dimension of `groupBy`; null for requests without one. */
  readonly values: Readonly<Partial<Record<UsageDimension, string | null>>>
  readonly totals: UsageTotals
}

/** The values of a dimension in these groups. */
export function valuesIn(groups: readonly UsageBucketGroup[], dimension: UsageDimension): readonly string[] {
  return [...new Set(groups.flatMap(({ values }) => values[dimension] ?? []))]
}

/** Reports the usage of organizations by period, without blocking other requests. */
export type UsageBuckets = {
  /**
   * Resolves with the groups in the order of their buckets, most requests first. A request with several tags counts in
   * the group of each. Rejects with 400 if there are too many groups, and with 503 if the report takes too long.
   */
  read(query: UsageBucketQuery): Promise<readonly UsageBucketGroup[]>
  /** The same, with the totals of all groups together: both are of the same requests, also while others are recorded. */
  readWithTotal(query: UsageBucketQuery): Promise<UsageGroupsWithTotal>
}

type UsageGroupsWithTotal = {
  readonly groups: readonly UsageBucketGroup[]
  /** A request with several tags counts for each of them, if the groups are by tag. */
  readonly total: UsageTotals
}
