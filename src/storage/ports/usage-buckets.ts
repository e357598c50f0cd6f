import type { UsageSums } from './usage-report.ts'

/**
 * What the requests of a report can be grouped by. `user` and `tag` are labels that clients choose; one label or `error` is
 * possible at a time.
 */
export const usageDimensions = [
  'organization',
  'key',
  'api',
  'model',
  'provider',
  'user',
  'tag',
  'error',
] as const

export type UsageDimension = (typeof usageDimensions)[number]

/** The lengths of buckets in milliseconds, by name. */
export const bucketWidths = { '1m': 60_000, '1h': 3_600_000, '1d': 86_400_000 } as const

export type BucketWidth = keyof typeof bucketWidths

/** The requests of a report by period. Times are milliseconds since 1970. */
export type UsageBucketQuery = {
  /** The ids of organizations; all organizations if absent. */
  readonly organizations?: readonly string[] | undefined
  /** The length of the buckets; absent: one bucket, which starts at 0. */
  readonly width?: BucketWidth | undefined
  readonly from: number
  /** Exclusive; the end of time if absent. */
  readonly to?: number | undefined
  readonly groupBy: readonly UsageDimension[]
  /** Only requests to these models, if present. */
  readonly models?: readonly string[] | undefined
  /** Only requests with the keys with these public ids, if present. */
  readonly keys?: readonly string[] | undefined
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

/** Reports the usage of organizations by period, without blocking other requests. */
export type UsageBuckets = {
  /**
   * Resolves with the groups in the order of their buckets, most requests first. A request with several tags counts in
   * the group of each. Rejects with 400 if there are too many groups, and with 503 if the report takes too long.
   */
  read(query: UsageBucketQuery): Promise<readonly UsageBucketGroup[]>
}
