import type { ReportSums } from '../ports/usage.ts'
import {
  endOfTime,
  failedSql,
  hasTokensSql,
  inProjectSql,
  projectSql,
  roundedTimeSql,
  rowPropertiesSql,
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
  readonly sums?: ReportSums
}

/** Sums up rows of `usage` by period. */
export function slicesOf({ prepared }: Database, { values, widthMs, ...rows }: SlicedRows): UsageSlice[] {
  return prepared<UsageSlice>(sliceSql(rows)).all(widthMs ?? endOfTime, ...values)
}

/** The first placeholder is the length of a period. */
function sliceSql({ condition, by, named, sums = 'all' }: Omit<SlicedRows, 'values' | 'widthMs'>): string {
  const properties = Object.entries({
    ...sliceProperties,
    ...(by && rowPropertiesSql),
    ...(named && { value: `coalesce(usage."${named}", '')` }),
  })
  const isNeeded = (name: string) => by === undefined || by.has(name) || name === 'value'
  const columns = properties.map(([name, column]) => `${isNeeded(name) ? column : "''"} ${name}`)
  const groups = properties.flatMap(([name], index) => (isNeeded(name) ? [index + 2] : []))
  if (by === undefined) columns.push(`${projectSql} project`, `${inProjectSql} inProject`)
  return `SELECT usage.created_at / ?1 * ?1 start, ${columns.join()},
    count(*) requests, sum(${failedSql}) failed,
    sum(usage.status BETWEEN 400 AND 498) clientErrors, sum(usage.status >= 500) serverErrors,
    sum(usage.prompt_tokens) promptTokens, sum(usage.completion_tokens) completionTokens,
    sum(usage.cached_tokens) cachedTokens, sum(usage.cache_write_tokens) cacheWriteTokens,
    sum(usage.reasoning_tokens) reasoningTokens,
    sum(usage.cost IS NOT NULL AND ${hasTokensSql}) priced, sum(usage.cost IS NULL AND ${hasTokensSql}) unpriced,
    cast(coalesce(sum(usage.cost), 0) AS text) cost,
    ${sums === 'costs' ? "'[]'" : timesSql('latency_ms')} latencies,
    ${sums === 'costs' ? "'[]'" : timesSql('first_token_ms')} firstTokens
  FROM usage ${by?.has('tag') ? tagsSql : ''} WHERE ${condition} GROUP BY ${[1, ...groups].join()}`
}

const sliceProperties = {
  organization: totalsKeySql.organization_id,
  key: totalsKeySql.key_id,
  api: totalsKeySql.api,
  model: totalsKeySql.model,
  provider: totalsKeySql.provider,
}

/** A tag that a request repeats counts once. */
const tagsSql = `LEFT JOIN json_each(usage.tags) tag ON NOT EXISTS (
  SELECT 1 FROM json_each(usage.tags) earlier WHERE earlier.value = tag.value AND earlier.key < tag.key)`

/** The times of successful requests, rounded down to two digits, each followed by the 1 request that took it. */
function timesSql(column: 'latency_ms' | 'first_token_ms'): string {
  const counted = `group_concat(${roundedTimeSql(column)} || ',1')`
  return `'[' || coalesce(${counted} FILTER (WHERE usage.${column} IS NOT NULL AND NOT ${failedSql}), '') || ']'`
}
