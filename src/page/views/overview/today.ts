import { parseUsd } from '../../../lib/usd.ts'
import type { ApiClient } from '../../api/client.ts'
import { decimalText } from '../../components/format.ts'

/** The requests of a period. */
export type Requests = { readonly all: number; readonly clientErrors: number; readonly serverErrors: number }

/** Today by UTC, beside the six days before. Costs are nano-dollars; null for requests of which none has a known cost. */
export type Today = {
  readonly requests: Requests
  readonly cost: bigint | null
  readonly unpriced: number
  /** The six days before. */
  readonly before: { readonly requests: Requests; readonly cost: bigint | null }
  /** Of all seven days, by the ID of the organization. */
  readonly spend: ReadonlyMap<string, bigint>
}

type Bucket<Result> = { readonly start_time: number; readonly results: readonly Result[] }
type Page<Result> = { readonly data: readonly Bucket<Result>[] }

type UsageResult = {
  readonly num_model_requests: number
  readonly num_client_errors: number
  readonly num_server_errors: number
}

type CostsResult = {
  readonly organization_id: string | null
  readonly amount: { readonly value: number | string | null }
  readonly num_unpriced_requests: number
}

const daySeconds = 86_400

/** Loads the usage and the costs of seven days, of which the last is the one of `nowMs`. */
export async function loadToday(client: ApiClient, nowMs: number, signal: AbortSignal): Promise<Today> {
  const now = Math.floor(nowMs / 1000)
  const start = now - (now % daySeconds)
  const query = { start_time: start - 6 * daySeconds, end_time: now, bucket_width: '1d', limit: 7 }
  const [usage, costs] = await Promise.all([
    client.get<Page<UsageResult>>('/v1/organization/usage/completions', { query, signal }),
    client.get<Page<CostsResult>>('/v1/organization/costs', {
      query: { ...query, group_by: ['organization_id'] },
      signal,
    }),
  ])
  const [usageToday, usageBefore] = split(usage, start)
  const [costsToday, costsBefore] = split(costs, start)
  return {
    requests: sumRequests(usageToday),
    cost: sumCosts(costsToday),
    unpriced: costsToday.reduce((sum, { num_unpriced_requests: count }) => sum + count, 0),
    before: { requests: sumRequests(usageBefore), cost: sumCosts(costsBefore) },
    spend: spendOf([...costsToday, ...costsBefore]),
  }
}

/** The results of the buckets from this second on, and of those before. */
function split<Result>(
  { data }: Page<Result>,
  start: number,
): readonly [readonly Result[], readonly Result[]] {
  const resultsOf = (buckets: readonly Bucket<Result>[]) => buckets.flatMap(({ results }) => results)
  return [
    resultsOf(data.filter(({ start_time }) => start_time >= start)),
    resultsOf(data.filter(({ start_time }) => start_time < start)),
  ]
}

function sumRequests(results: readonly UsageResult[]): Requests {
  const sum = (field: keyof UsageResult) => results.reduce((total, result) => total + result[field], 0)
  return {
    all: sum('num_model_requests'),
    clientErrors: sum('num_client_errors'),
    serverErrors: sum('num_server_errors'),
  }
}

const nanosOf = ({ amount }: CostsResult) => parseUsd(decimalText(amount.value ?? ''))

function sumCosts(results: readonly CostsResult[]): bigint | null {
  const known = results.map(nanosOf).filter((cost) => cost !== undefined)
  return known.length === 0 && results.length > 0 ? null : known.reduce((sum, cost) => sum + cost, 0n)
}

function spendOf(results: readonly CostsResult[]): ReadonlyMap<string, bigint> {
  const spend = new Map<string, bigint>()
  for (const result of results) {
    const { organization_id: id } = result
    if (id !== null) spend.set(id, (spend.get(id) ?? 0n) + (nanosOf(result) ?? 0n))
  }
  return spend
}

/** How good a rate of errors is, in a color and in a word. Only errors of the gateway and its providers count. */
export function errorRate({ all, serverErrors }: Requests): {
  readonly text: string
  readonly tone: 'neutral' | 'good' | 'warning' | 'bad'
  readonly word: string
} {
  if (all === 0) return { text: '–', tone: 'neutral', word: 'no requests' }
  const rate = serverErrors / all
  const text = percentFormat.format(rate)
  if (rate < 0.01) return { text, tone: 'good', word: 'normal' }
  return rate < 0.05 ? { text, tone: 'warning', word: 'raised' } : { text, tone: 'bad', word: 'high' }
}

const percentFormat = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 })
