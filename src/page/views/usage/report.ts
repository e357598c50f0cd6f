import type { ApiClient, Query } from '../../api/client.ts'
import { ApiFailure } from '../../api/failure.ts'
import type { Grouping } from './grouping.ts'
import { type RangeName, ranges } from './range.ts'

export type Timing = { readonly p50: number; readonly p95: number }

/** The values that a result is grouped by. */
type Labels = Readonly<Partial<Record<Grouping, string | null>>>

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

export type CostsResult = Labels & {
  readonly amount: { readonly value: number | string | null }
  readonly num_unpriced_requests: number
}

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

/** What a report is about. */
export type ReportRequest = {
  readonly range: RangeName
  readonly by: Grouping
  readonly model: string | undefined
  readonly key: string | undefined
  /** Milliseconds since 1970. */
  readonly now: number
}

/** Loads the report, with every page of it. */
export async function loadReport(
  client: ApiClient,
  request: ReportRequest,
  signal: AbortSignal,
): Promise<Report> {
  const { by, model, key } = request
  const now = Math.floor(request.now / 1000)
  const { seconds, width, limit } = ranges[request.range]
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
