import type { OrganizationDeletion } from '../schema/organizations.ts'
import { bucketWidths, type ReportSums, type UsageBucketQuery } from '../ports/usage.ts'

/** A time that no request reaches, at which a day begins. */
export const endOfTime = 8_640_000_000_000_000

/** The lengths of the periods of totals. */
export type TotalsWidth = 'hour' | 'day'

/** The same in milliseconds. */
export const widthsMs: Readonly<Record<TotalsWidth, number>> = {
  hour: bucketWidths['1h'],
  day: bucketWidths['1d'],
}

/** The start of the period of a time. */
export function startOfPeriod(time: number, width: TotalsWidth): number {
  return Math.floor(time / widthsMs[width]) * widthsMs[width]
}

/** The tables with totals. */
export type TotalsTable = 'usage_totals' | 'usage_sums' | 'usage_names'

/** Requests are recorded when they end. The totals lag, because a row that comes later costs more to add. */
export const totalsLagMs = 60_000

/** SQL that is true for a row of `usage` whose request failed. */
export const failedSql = '(usage.error IS NOT NULL OR usage.status NOT BETWEEN 200 AND 299)'

/** SQL for the error code of a row of `usage`, or for its status without one; null for a request that did not fail. */
export const errorSql = `CASE WHEN ${failedSql} THEN coalesce(usage.error, 'status_' || usage.status) END`

/** SQL that is true for a row of `usage` whose organization is in this state of its deletion. */
export function isDeletedSql(state: OrganizationDeletion): string {
  return `EXISTS (SELECT 1 FROM organizations o WHERE o.id = usage.organization_id AND o.deletion = '${state}')`
}

/** SQL that is true for a row of `usage` whose organization is not deleted; a deletion that has begun counts. */
export const ownerExistsSql =
  'EXISTS (SELECT 1 FROM organizations o WHERE o.id = usage.organization_id AND o.deletion IS NULL)'

/** SQL for the properties that only rows of `usage` have, and totals do not, but for the project; `tag` joins its tags. */
export const rowPropertiesSql = {
  project: 'usage.project_id',
  user: 'usage."user"',
  session: 'usage.session',
  tag: 'tag.value',
  error: errorSql,
} as const

/** Whether a report groups or filters by what totals do not have. */
export function readsRows({ groupBy, users, sessions, tags }: UsageBucketQuery): boolean {
  const isOfRows = (name: string) => name in rowPropertiesSql && name !== 'project'
  return [users, sessions, tags].some(Boolean) || groupBy.some(isOfRows)
}

/** SQL for the project of rows of `usage`, and for `in_project` of their totals. */
export const projectSql = 'max(usage.project_id)'
export const inProjectSql = `CASE WHEN count(usage.project_id) = 0 THEN 0
  WHEN count(usage.project_id) = count(*) AND min(usage.project_id) = max(usage.project_id) THEN count(*) ELSE -1 END`

/** SQL for `in_project` of totals `t` to which those of `s` are added, or from which they are subtracted. */
export function changedInProjectSql(t: string, s: string, sign: string): string {
  return `CASE WHEN ${t}.in_project = 0 AND ${s}.in_project = 0 THEN 0
    WHEN ${t}.in_project = ${t}.requests AND ${s}.in_project > 0 AND ${t}.project_id = ${s}.project_id
      THEN ${t}.in_project ${sign} ${s}.in_project ELSE -1 END`
}

/** SQL for the project of totals `t`, and for whether they have requests of several: the rows have their projects then. */
export const totalsProjectSql = 'CASE WHEN t.in_project > 0 THEN t.project_id END'
export const isMixedSql = '(t.in_project <> 0 AND t.in_project <> t.requests)'

/** SQL that is true for a row of `usage` with tokens. */
export const hasTokensSql = 'usage.prompt_tokens + usage.completion_tokens > 0'

/** The times of a row of `usage`. */
type TimeColumn = 'latency_ms' | 'first_token_ms'

/** SQL for a time of a row of `usage` in milliseconds, rounded down to two digits. */
export function roundedTimeSql(column: TimeColumn): string {
  const time = `usage.${column}`
  return `CASE WHEN ${time} < 100 THEN ${time} WHEN ${time} < 1000 THEN ${time} / 10 * 10
    WHEN ${time} < 10000 THEN ${time} / 100 * 100 WHEN ${time} < 100000 THEN ${time} / 1000 * 1000
    ELSE ${time} / 10000 * 10000 END`
}

/** SQL for the columns of `usage` that identify a row of `usage_totals`, by the names of its columns. */
export const totalsKeySql = {
  organization_id: 'usage.organization_id',
  key_id: 'usage.key_id',
  api: 'usage.api',
  model: "coalesce(usage.model, '')",
  provider: "coalesce(usage.provider, '')",
} as const

/** The columns of `usage_totals` with sums, but for the cost, and the fields of a report that they are read to. */
export const sumColumns = [
  ['requests', 'requests'],
  ['failed', 'failed'],
  ['client_errors', 'clientErrors'],
  ['server_errors', 'serverErrors'],
  ['prompt_tokens', 'promptTokens'],
  ['completion_tokens', 'completionTokens'],
  ['cached_tokens', 'cachedTokens'],
  ['cache_write_tokens', 'cacheWriteTokens'],
  ['reasoning_tokens', 'reasoningTokens'],
  ['priced', 'priced'],
  ['unpriced', 'unpriced'],
] as const

const ofCosts: ReadonlySet<string> = new Set(['priced', 'unpriced'])

/** Returns the columns with sums that a report needs, but for the cost. */
export function sumColumnsOf(sums: ReportSums): readonly (typeof sumColumns)[number][] {
  if (sums === 'all') return sumColumns
  return sumColumns.filter(([column]) => column === 'requests' || ofCosts.has(column) === (sums === 'costs'))
}

/** A number of requests or tokens in a slice. */
export type CountField = (typeof sumColumns)[number][1]

/** The sums of requests of a period that have the same properties. */
export type UsageSlice = Readonly<Record<CountField, number>> & {
  /** When the period begins, in milliseconds since 1970. */
  readonly start: number
  readonly organization: string
  readonly key: string
  readonly api: string
  /** Empty if the requests have none, like the provider. */
  readonly model: string
  readonly provider: string
  /** See `usage_totals`. */
  readonly project: string | null
  readonly inProject: number
  /** See `usage_names`. */
  readonly value?: string
  /** As text, because the sum of many costs may exceed the exact range of a number. */
  readonly cost: string
  /** Rounded times and the numbers of successful requests that took them, in the form of the store: see `AddTimes`. */
  readonly latencies: string
  readonly firstTokens: string
}

/**
 * A slice of a report, which needs the properties that it is grouped or filtered by, and the sums of `sumColumnsOf`; others
 * may be absent or empty.
 */
export type ReportSlice = Partial<UsageSlice> & Partial<Record<keyof typeof rowPropertiesSql, string | null>>
