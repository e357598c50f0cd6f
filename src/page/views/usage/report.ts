import { parseUsd } from '../../../lib/usd.ts'
import type { ApiClient, Query } from '../../api/client.ts'
import { ApiFailure } from '../../api/failure.ts'
import { decimalText } from '../../components/format.ts'
import { type Grouping, ranges, type UsageQuery } from './usage-query.tsx'

/** Percentiles, in milliseconds. */
export type Timing = { readonly p50: number; readonly p95: number }

/** The values that a result is grouped by. */
type Labels = Readonly<Partial<Record<Grouping, string | null>>>

/** The usage of a bucket, or of one group in it. */
export type UsageResult = Labels & {
  readonly input_tokens: number
  readonly input_cached_tokens: number
  readonly output_tokens: number
  readonly output_reasoning_tokens: number
  readonly num_model_requests: number
  readonly num_failed_requests: number
  readonly num_client_errors: number
  readonly num_server_errors: number
  readonly latency_ms: Timing | null
  readonly first_token_ms: Timing | null
}

type CostsResult = Labels & {
  readonly amount: { readonly value: number | string | null }
  readonly num_unpriced_requests: number
}

/** A part of the period. */
export type Bucket<Result> = {
  readonly start_time: number
  readonly end_time: number
  readonly results: readonly Result[]
}

type Page<Result> = { readonly data: readonly Bucket<Result>[]; readonly next_page: string | null }

/** The usage and the costs of the same buckets. */
export type Figures = {
  readonly usage: readonly Bucket<UsageResult>[]
  readonly costs: readonly Bucket<CostsResult>[]
}

/** The figures by group, and those of all requests: with several tags, a request is in several groups. */
export type Report = { readonly by: Grouping; readonly groups: Figures; readonly total: Figures }

/** Loads the report until `nowMs`, milliseconds since 1970, with every page of it. */
export async function loadReport(
  client: ApiClient,
  { range, by, model, key }: UsageQuery,
  nowMs: number,
  signal: AbortSignal,
): Promise<Report> {
  const now = Math.floor(nowMs / 1000)
  const { seconds, width, limit } = ranges[range]
  const query = {
    start_time: now - seconds,
    end_time: now,
    bucket_width: width,
    limit,
    models: model === undefined ? [] : [model],
    api_key_ids: key === undefined ? [] : [key],
  }
  const total = loadFigures(client, query, signal)
  const groups = by === 'none' ? total : loadFigures(client, { ...query, group_by: [by] }, signal)
  const [loadedTotal, loadedGroups] = await Promise.all([total, groups])
  return { by, groups: loadedGroups, total: loadedTotal }
}

async function loadFigures(client: ApiClient, query: Query, signal: AbortSignal): Promise<Figures> {
  const [usage, costs] = await Promise.all([
    loadBuckets<UsageResult>(client, '/v1/organization/usage/completions', query, signal),
    loadBuckets<CostsResult>(client, '/v1/organization/costs', query, signal),
  ])
  return { usage, costs }
}

/** A report of this page has two pages at most. */
const maxPages = 10

async function loadBuckets<Result>(
  client: ApiClient,
  path: string,
  query: Query,
  signal: AbortSignal,
): Promise<readonly Bucket<Result>[]> {
  const buckets: Bucket<Result>[] = []
  let page: string | undefined
  for (let count = 0; count < maxPages; count++) {
    const { data, next_page }: Page<Result> = await client.get(path, { query: { ...query, page }, signal })
    buckets.push(...data)
    if (next_page === null) return buckets
    page = next_page
  }
  throw new ApiFailure('The report has too many pages.')
}

/** The sums of a group over all buckets. */
export type Totals = {
  /** Null for requests without one. */
  readonly value: string | null
  readonly requests: number
  readonly failed: number
  readonly inputTokens: number
  readonly cachedTokens: number
  readonly outputTokens: number
  readonly reasoningTokens: number
  /** Billionths of a dollar, exact; null where no cost is known. */
  readonly cost: bigint | null
  readonly unpriced: number
}

const nothing: Totals = {
  value: null,
  requests: 0,
  failed: 0,
  inputTokens: 0,
  cachedTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  cost: null,
  unpriced: 0,
}

/** Adds the buckets up, by group; a single sum where they are not grouped. */
export function totalsOf({ usage, costs }: Figures, by: Grouping): readonly Totals[] {
  const sums = new Map<string | null, Totals>()
  const of = (value: string | null) => sums.get(value) ?? { ...nothing, value }
  for (const result of usage.flatMap(({ results }) => results)) {
    const value = result[by] ?? null
    const sum = of(value)
    sums.set(value, {
      ...sum,
      requests: sum.requests + result.num_model_requests,
      failed: sum.failed + result.num_failed_requests,
      inputTokens: sum.inputTokens + result.input_tokens,
      cachedTokens: sum.cachedTokens + result.input_cached_tokens,
      outputTokens: sum.outputTokens + result.output_tokens,
      reasoningTokens: sum.reasoningTokens + result.output_reasoning_tokens,
    })
  }
  for (const result of costs.flatMap(({ results }) => results)) {
    const value = result[by] ?? null
    const sum = of(value)
    const cost = parseUsd(decimalText(result.amount.value ?? ''))
    sums.set(value, {
      ...sum,
      cost: cost === undefined ? sum.cost : (sum.cost ?? 0n) + cost,
      unpriced: sum.unpriced + result.num_unpriced_requests,
    })
  }
  return [...sums.values()]
}

/** The sum of everything. */
export function grandTotal(figures: Figures): Totals {
  return totalsOf(figures, 'none')[0] ?? nothing
}
