import type { ReportSums } from '../ports/usage.ts'
import {
  type CountField,
  endOfTime,
  failedSql,
  hasTokensSql,
  inProjectSql,
  projectSql,
  type ReportSlice,
  roundedTimeSql,
  rowPropertiesSql,
  sumColumnsOf,
  totalsKeySql,
  type UsageSlice,
} from '../usage/slices.ts'
import type { Database } from './connection/database.ts'

/** The rows of `usage` to slice: a condition in SQL, and the values of its placeholders. */
export type SlicedRows = {
  readonly condition: string
  readonly values: readonly (string | number)[]
  /** The length of a period; one that has all rows if absent. */
  readonly widthMs?: number | undefined
  /** The properties that must be the same in a slice; the others are empty. All those of totals are, if absent. */
  readonly by?: ReadonlySet<string> | undefined
  /** A column that must be the same as well. */
  readonly named?: string | undefined
}

/** Sums up rows of `usage` by period. */
export function slicesOf({ prepared }: Database, { values, widthMs, ...rows }: SlicedRows): UsageSlice[] {
  return prepared<UsageSlice>(sliceSql(rows, 'all')).all(widthMs ?? endOfTime, ...values)
}

/** The same, with the sums that a report needs. */
export function reportSlicesOf(
  { prepared }: Database,
  { values, widthMs, ...rows }: SlicedRows,
  sums: ReportSums,
): ReportSlice[] {
  return prepared<ReportSlice>(sliceSql(rows, sums)).all(widthMs ?? endOfTime, ...values)
}

/** The first placeholder is the length of a period. */
function sliceSql(
  { condition, by, named }: Omit<SlicedRows, 'values' | 'widthMs'>,
  sums: ReportSums,
): string {
  const properties = Object.entries({
    ...sliceProperties,
    ...(by && rowPropertiesSql),
    ...(named && { value: `coalesce(usage."${named}", '')` }),
  })
  const isNeeded = (name: string) => by === undefined || by.has(name) || name === 'value'
  const columns = properties.map(([name, column]) => `${isNeeded(name) ? column : "''"} ${name}`)
  const groups = properties.flatMap(([name], index) => (isNeeded(name) ? [index + 2] : []))
  if (by === undefined) columns.push(`${projectSql} project`, `${inProjectSql} inProject`)
  const added = [
    ...sumColumnsOf(sums).map(([, field]) => `${sumsSql[field]} ${field}`),
    ...(sums === 'usage' ? [] : ['cast(coalesce(sum(usage.cost), 0) AS text) cost']),
    ...(sums === 'costs'
      ? []
      : [`${timesSql('latency_ms')} latencies`, `${timesSql('first_token_ms')} firstTokens`]),
  ]
  return `SELECT usage.created_at / ?1 * ?1 start, ${[...columns, ...added].join()}
  FROM usage ${by?.has('tag') ? tagsSql : ''} WHERE ${condition} GROUP BY ${[1, ...groups].join()}`
}

const sliceProperties = {
  organization: totalsKeySql.organization_id,
  key: totalsKeySql.key_id,
  api: totalsKeySql.api,
  model: totalsKeySql.model,
  provider: totalsKeySql.provider,
}

/** SQL for the sums of rows of `usage`, by the fields of a slice. */
const sumsSql: Readonly<Record<CountField, string>> = {
  requests: 'count(*)',
  failed: `sum(${failedSql})`,
  clientErrors: 'sum(usage.status BETWEEN 400 AND 498)',
  serverErrors: 'sum(usage.status >= 500)',
  promptTokens: 'sum(usage.prompt_tokens)',
  completionTokens: 'sum(usage.completion_tokens)',
  cachedTokens: 'sum(usage.cached_tokens)',
  cacheWriteTokens: 'sum(usage.cache_write_tokens)',
  reasoningTokens: 'sum(usage.reasoning_tokens)',
  priced: `sum(usage.cost IS NOT NULL AND ${hasTokensSql})`,
  unpriced: `sum(usage.cost IS NULL AND ${hasTokensSql})`,
}

/** A tag that a request repeats counts once. */
const tagsSql = `LEFT JOIN json_each(usage.tags) tag ON NOT EXISTS (
  SELECT 1 FROM json_each(usage.tags) earlier WHERE earlier.value = tag.value AND earlier.key < tag.key)`

/** The times of successful requests, rounded down to two digits, each followed by the 1 request that took it. */
function timesSql(column: 'latency_ms' | 'first_token_ms'): string {
  const counted = `group_concat(${roundedTimeSql(column)} || ',1')`
  return `'[' || coalesce(${counted} FILTER (WHERE usage.${column} IS NOT NULL AND NOT ${failedSql}), '') || ']'`
}
