import { parseUsd } from '../../../lib/usd.ts'
import type { ApiClient, Query } from '../../api/client.ts'
import { ApiFailure } from '../../api/failure.ts'
import { decimalText } from '../../components/format.ts'
import { type Span, spanOf, widthSeconds } from './period.ts'
import { filtered, type Grouping, nameFields } from './groupings.ts'
import { loadOrganizationNames, withOrganizationNames } from './organization-names.ts'
import type { UsageQuery } from './usage-query.tsx'

/** Percentiles, in milliseconds. */
export type Timing = { readonly p50: number; readonly p95: number }

/** The values that a result is grouped by. */
type Labels = Readonly<Partial<Record<Grouping | NameField, string | null>>>

type NameField = (typeof nameFields)[keyof typeof nameFields]

/** The usage of a bucket, or of one group in it. */
export type UsageResult = Labels & {
  readonly input_tokens: number
  readonly input_cached_tokens: number
  readonly input_cache_write_tokens: number
  readonly output_tokens: number
  readonly output_reasoning_tokens: number
  readonly num_model_requests: number
  readonly num_failed_requests: number
  readonly num_client_errors: number
  readonly num_server_errors: number
  readonly latency_ms: Timing | null
  readonly first_token_ms: Timing | null
}

/** The cost of a bucket, or of one group in it. */
export type CostsResult = Labels & {
  readonly amount: { readonly value: number | string | null }
  readonly num_model_requests: number
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
export type Report = {
  readonly by: readonly Grouping[]
  readonly groups: Figures
  readonly total: Figures
  /** Of a bucket, in seconds. */
  readonly step: number
}

/** Loads the report of a period at `nowMs`, milliseconds since 1970, with every page of it. */
export async function loadReport(
  client: ApiClient,
  { period, by, filters }: UsageQuery,
  nowMs: number,
  signal: AbortSignal,
): Promise<Report> {
  const { start, end, width } = spanOf(period, Math.floor(nowMs / 1000))
  const query = {
    start_time: start,
    end_time: end,
    // The API has lists of them.
    ...Object.fromEntries(filtered.map((name) => [`${name}s`, filters[name] ?? []])),
  }
  const load = (group_by: readonly Grouping[]) => loadFigures(client, { ...query, group_by }, width, signal)
  // Other groups than tags add up to the total.
  const [figures, total, names] = await Promise.all([
    load(by),
    by.includes('tag') ? load([]) : undefined,
    by.includes('organization_id') ? loadOrganizationNames(client, signal) : undefined,
  ])
  const named = <Result extends Labels>(buckets: readonly Bucket<Result>[]) =>
    names === undefined ? buckets : withOrganizationNames(buckets, names)
  const groups = { usage: named(figures.usage), costs: named(figures.costs) }
  return { by, groups, total: total ?? groups, step: widthSeconds[width] }
}

const daySeconds = widthSeconds['1d']

/** Loads the figures of seven days of UTC, of which the last is the one of `nowMs`, day by day. */
export function loadWeek(
  client: ApiClient,
  filter: Query,
  nowMs: number,
  signal: AbortSignal,
): Promise<Figures> {
  const now = Math.floor(nowMs / 1000)
  const start = now - (now % daySeconds) - 6 * daySeconds
  return loadFigures(client, { ...filter, start_time: start, end_time: now }, '1d', signal)
}

/** The most buckets of a page. */
const widths = {
  '1m': { usage: 1440, costs: 1440 },
  '1h': { usage: 168, costs: 168 },
  '1d': { usage: 31, costs: 180 },
} as const

async function loadFigures(
  client: ApiClient,
  selected: Query,
  width: Span['width'],
  signal: AbortSignal,
): Promise<Figures> {
  const query = { ...selected, bucket_width: width }
  const { usage: limit, costs: costsLimit } = widths[width]
  const [usage, costs] = await Promise.all([
    loadBuckets<UsageResult>(client, '/v1/organization/usage/completions', { ...query, limit }, signal),
    loadBuckets<CostsResult>(client, '/v1/organization/costs', { ...query, limit: costsLimit }, signal),
  ])
  return { usage, costs }
}

/** More than those of the longest period. */
const maxPages = 120

/** A page has as many buckets as the limit of the query, or fewer: a day of many users may be all that fits. */
async function loadBuckets<Result>(
  client: ApiClient,
  path: string,
  query: Query & { readonly limit: number },
  signal: AbortSignal,
): Promise<readonly Bucket<Result>[]> {
  const buckets: Bucket<Result>[] = []
  let page: string | undefined
  let { limit } = query
  for (let count = 0; count < maxPages; count++) {
    try {
      const options = { query: { ...query, limit, page }, signal }
      const { data, next_page }: Page<Result> = await client.get(path, options)
      buckets.push(...data)
      if (next_page === null) return buckets
      page = next_page
    } catch (error) {
      if (!(error instanceof ApiFailure && error.status === 400) || limit === 1) throw error
      limit = Math.ceil(limit / 4)
    }
  }
  throw new ApiFailure('The report has too many days. Choose a shorter period.')
}

/** The sums of a group over all buckets. */
export type Totals = {
  /** See `groupKey`. */
  readonly key: string
  /** Of each grouping; null for requests without one. */
  readonly values: readonly (string | null)[]
  /** The same, with the names of those that have one. */
  readonly names: readonly (string | null)[]
  readonly requests: number
  readonly failed: number
  readonly clientErrors: number
  readonly serverErrors: number
  readonly inputTokens: number
  readonly cachedTokens: number
  readonly outputTokens: number
  readonly reasoningTokens: number
  /** Billionths of a dollar, exact; null where no cost is known. */
  readonly cost: bigint | null
  readonly unpriced: number
}

const nothing: Totals = {
  key: '',
  values: [],
  names: [],
  requests: 0,
  failed: 0,
  clientErrors: 0,
  serverErrors: 0,
  inputTokens: 0,
  cachedTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  cost: null,
  unpriced: 0,
}

/** The values of a result, in the order of the groupings. */
function valuesOf(result: Labels, by: readonly Grouping[]): readonly (string | null)[] {
  return by.map((name) => result[name] ?? null)
}

/** The same, with the names of those that have one. */
function namesOf(result: Labels, by: readonly Grouping[]): readonly (string | null)[] {
  const nameOf = (name: Grouping) => (hasNames(name) ? result[nameFields[name]] : null)
  return by.map((name) => nameOf(name) ?? result[name] ?? null)
}

function hasNames(name: Grouping): name is keyof typeof nameFields {
  return name in nameFields
}

/** A text that only results of the same group have. */
export function groupKey(result: Labels, by: readonly Grouping[]): string {
  return JSON.stringify(valuesOf(result, by))
}

/** Adds the buckets up, by group; a single sum where they are not grouped. */
export function totalsOf({ usage, costs }: Figures, by: readonly Grouping[]): readonly Totals[] {
  const sums = new Map<string, Totals>()
  const of = (result: Labels) => {
    const key = groupKey(result, by)
    return sums.get(key) ?? { ...nothing, key, values: valuesOf(result, by), names: namesOf(result, by) }
  }
  for (const result of usage.flatMap(({ results }) => results)) {
    const sum = of(result)
    sums.set(sum.key, {
      ...sum,
      requests: sum.requests + result.num_model_requests,
      failed: sum.failed + result.num_failed_requests,
      clientErrors: sum.clientErrors + result.num_client_errors,
      serverErrors: sum.serverErrors + result.num_server_errors,
      inputTokens: sum.inputTokens + result.input_tokens,
      cachedTokens: sum.cachedTokens + result.input_cached_tokens,
      outputTokens: sum.outputTokens + result.output_tokens,
      reasoningTokens: sum.reasoningTokens + result.output_reasoning_tokens,
    })
  }
  for (const result of costs.flatMap(({ results }) => results)) {
    const sum = of(result)
    const cost = parseUsd(decimalText(result.amount.value ?? ''))
    sums.set(sum.key, {
      ...sum,
      cost: cost === undefined ? sum.cost : (sum.cost ?? 0n) + cost,
      unpriced: sum.unpriced + result.num_unpriced_requests,
    })
  }
  return [...sums.values()]
}

/** The sum of everything. Nothing costs nothing. */
export function grandTotal(figures: Figures): Totals {
  return totalsOf(figures, [])[0] ?? { ...nothing, cost: 0n }
}
