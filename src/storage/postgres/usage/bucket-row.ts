import type { UsageBucketGroup, UsageDimension } from '../../ports/usage-buckets.ts'
import type { Timing } from '../../ports/usage-report.ts'

type Totals = UsageBucketGroup['totals']

/** A row that the statement of a report returns. The cost is text, because it may exceed the exact range of a number. */
export type BucketRow = Omit<Totals, 'cost' | 'latency' | 'firstToken'> & {
  readonly start: number
  readonly priced: number
  readonly cost: string
  readonly latency50: number | null
  readonly latency95: number | null
  readonly first50: number | null
  readonly first95: number | null
  /** The value of the dimension with this place in `groupBy`. */
  readonly [value: `value${number}`]: string | null
}

/** Converts a row of a report. */
export function toBucketGroup(row: BucketRow, groupBy: readonly UsageDimension[]): UsageBucketGroup {
  const totals: Totals = {
    requests: row.requests,
    failed: row.failed,
    clientErrors: row.clientErrors,
    serverErrors: row.serverErrors,
    promptTokens: row.promptTokens,
    completionTokens: row.completionTokens,
    cachedTokens: row.cachedTokens,
    cacheWriteTokens: row.cacheWriteTokens,
    reasoningTokens: row.reasoningTokens,
    unpriced: row.unpriced,
    // As in the report of the command line: unknown only if no cost is known.
    cost: row.unpriced > 0 && row.priced === 0 ? null : BigInt(row.cost),
    latency: toTiming(row.latency50, row.latency95),
    firstToken: toTiming(row.first50, row.first95),
  }
  const values = Object.fromEntries(
    groupBy.map((dimension, index) => [dimension, row[`value${index}`] ?? null]),
  )
  return { start: row.start, values, totals }
}

function toTiming(p50: number | null, p95: number | null): Timing | null {
  return p50 === null || p95 === null ? null : { p50, p95 }
}
