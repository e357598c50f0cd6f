import type { Database as Sqlite } from 'bun:sqlite'
import {
  errorSql,
  failedSql,
  hasTokensSql,
  roundedTimeSql,
  totalsKeySql,
  type UsageLabel,
} from '../../common/usage-totals.ts'
import type { UsageSlice } from '../../common/usage-slice.ts'
import type { Database } from '../connection/database.ts'

/** The rows of `usage` to slice: a condition in SQL, and the values of its placeholders. */
export type SlicedRows = {
  readonly condition: string
  readonly values: readonly (string | number)[]
  readonly widthMs: number
  /** The properties that must be the same in a slice; the others are empty. All are, if absent. */
  readonly by?: ReadonlySet<string> | undefined
  readonly label?: UsageLabel | undefined
}

/** Returns a function that sums up rows of `usage` by period. Its statements are prepared on first use. */
export function prepareSlices({ sqlite }: Pick<Database, 'sqlite'>): (rows: SlicedRows) => UsageSlice[] {
  const statements = new Map<string, ReturnType<typeof prepare>>()
  return ({ condition, values, widthMs, by, label }) => {
    const text = sliceSql(condition, by, label)
    const statement = statements.get(text) ?? prepare(sqlite, text)
    statements.set(text, statement)
    return statement.all(widthMs, ...values)
  }
}

function prepare(sqlite: Sqlite, text: string) {
  return sqlite.prepare<UsageSlice, (string | number)[]>(text)
}

/** The first placeholder is the length of a period. */
function sliceSql(
  condition: string,
  by: ReadonlySet<string> | undefined,
  label: UsageLabel | undefined,
): string {
  const properties = Object.entries(sliceProperties).map(
    ([name, column]) => `${by?.has(name) === false ? "''" : column} ${name}`,
  )
  return `SELECT usage.created_at / ?1 * ?1 start, ${properties.join()}, ${labelSql(label)} label,
    count(*) requests, sum(${failedSql}) failed,
    sum(usage.status BETWEEN 400 AND 498) clientErrors, sum(usage.status >= 500) serverErrors,
    sum(usage.prompt_tokens) promptTokens, sum(usage.completion_tokens) completionTokens,
    sum(usage.cached_tokens) cachedTokens, sum(usage.cache_write_tokens) cacheWriteTokens,
    sum(usage.reasoning_tokens) reasoningTokens,
    sum(usage.cost IS NOT NULL AND ${hasTokensSql}) priced, sum(usage.cost IS NULL AND ${hasTokensSql}) unpriced,
    cast(coalesce(sum(usage.cost), 0) AS text) cost,
    ${timesSql('latency_ms')} latencies, ${timesSql('first_token_ms')} firstTokens
  FROM usage ${label === 'tag' ? tagsSql : ''} WHERE ${condition} GROUP BY 1, 2, 3, 4, 5, 6, 7`
}

/** SQL for the times of several slices together. */
export function joinedTimesSql(column: 'latencies' | 'first_tokens'): string {
  return `'[' || coalesce(group_concat(nullif(trim(t.${column}, '[]'), '')), '') || ']'`
}

const sliceProperties = {
  organization: totalsKeySql.organization_id,
  key: totalsKeySql.key_id,
  api: totalsKeySql.api,
  model: totalsKeySql.model,
  provider: totalsKeySql.provider,
}

function labelSql(label: UsageLabel | undefined): string {
  if (label === undefined) return 'NULL'
  return { user: 'usage.user', tag: 'tag.value', error: errorSql }[label]
}

/** A tag that a request repeats counts once. */
const tagsSql = `LEFT JOIN json_each(usage.tags) tag ON NOT EXISTS (
  SELECT 1 FROM json_each(usage.tags) earlier WHERE earlier.value = tag.value AND earlier.key < tag.key)`

/** The times of successful requests, rounded down to two digits, each followed by the 1 request that took it. */
function timesSql(column: 'latency_ms' | 'first_token_ms'): string {
  const counted = `group_concat(${roundedTimeSql(column)} || ',1')`
  return `'[' || coalesce(${counted} FILTER (WHERE usage.${column} IS NOT NULL AND NOT ${failedSql}), '') || ']'`
}
