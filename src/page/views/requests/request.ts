import type { Query } from '../../api/client.ts'
import { type Period, ranges, readDays, spanOf } from '../usage/period.ts'

/** One call to a provider. */
export type Attempt = {
  readonly provider: string
  readonly model: string | null
  readonly outcome: string
  readonly ms: number | null
  readonly message?: string
}

/** A finished request, as the admin API returns it. */
export type FinishedRequest = {
  readonly id: string
  readonly created_at: string
  readonly status: number
  readonly error: string | null
  readonly message: string | null
  readonly param: string | null
  readonly organization: string
  readonly organization_id: string
  readonly project: string | null
  readonly project_name: string | null
  readonly key: string
  readonly key_name: string | null
  readonly user: string | null
  readonly session: string | null
  readonly tags: readonly string[] | null
  readonly api: string
  readonly model: string | null
  readonly provider: string | null
  readonly upstream_model: string | null
  readonly stream: boolean
  readonly input_tokens: number
  readonly cached_tokens: number
  readonly output_tokens: number
  readonly reasoning_tokens: number
  readonly estimated: boolean
  readonly cost_usd: string | null
  readonly latency_ms: number | null
  readonly first_token_ms: number | null
  readonly attempts: readonly Attempt[]
  readonly warnings: readonly string[]
}

/** The filters by their name in the API and in the address, and for people. */
export const filterNames = {
  organization: 'Organization',
  project: 'Project',
  key: 'API key',
  model: 'Model',
  provider: 'Provider',
  status: 'Status',
  error: 'Error',
  user: 'User',
  session: 'Session',
} as const

export type FilterName = keyof typeof filterNames

/** The requests that are shown, as in the address. */
export type RequestQuery = {
  readonly period: Period
  readonly filters: Readonly<Partial<Record<FilterName, string>>>
}

/** Reads the query of the address: the last week, unless it names another period. */
export function readQuery(query: URLSearchParams): RequestQuery {
  const range = query.get('range')
  const named = range !== null && Object.hasOwn(ranges, range) ? (range as keyof typeof ranges) : undefined
  const filters = (Object.keys(filterNames) as FilterName[]).flatMap((name) => {
    const value = query.get(name)
    return value ? [[name, value] as const] : []
  })
  return {
    period: readDays(query.get('from'), query.get('to')) ?? named ?? '7d',
    filters: Object.fromEntries(filters),
  }
}

/** The query of the address that shows these requests. */
export function queryOf({ period, filters }: RequestQuery): Readonly<Record<string, string | undefined>> {
  const days = typeof period === 'string' ? { range: period } : { from: period.first, to: period.last }
  return { ...days, ...filters }
}

/** The parameters of the list at `now`, in Unix seconds; a range that ends now has requests that end later, too. */
export function listParameters({ period, filters }: RequestQuery, now: number): Query {
  const { start, end } = spanOf(period, now)
  return { ...filters, start_time: start, end_time: typeof period === 'string' ? undefined : end }
}

/** Whether a request has failed, also in the middle of its stream. */
export function hasFailed({ status, error }: FinishedRequest): boolean {
  return error !== null || status < 200 || status > 299
}
