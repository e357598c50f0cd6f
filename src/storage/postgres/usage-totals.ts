import { type SQL, sql } from 'drizzle-orm'
import { unstorableEscape } from '../common/store-limits.ts'
import {
  changedInProjectSql,
  failedSql,
  hasTokensSql,
  inProjectSql,
  ownerExistsSql,
  projectSql,
  roundedTimeSql,
  sumColumns,
  type TotalsTable,
  totalsKeySql,
  widthsMs,
} from '../usage/slices.ts'
import {
  allStarts,
  isSummedSql,
  levelsFrom,
  namedColumns,
  type SumsLevel,
  sumsLevels,
  type SumsStart,
  sumsStarts,
} from '../usage/sums.ts'
import { execute, type Script } from '../statement.ts'

/** Part of a transaction that has the totals locked: adds the rows with this condition to these parts, by default to all. */
export function* addToTotals(condition: SQL, parts = allParts): Script<void> {
  for (const part of parts) {
    const table = tableOf(part)
    yield* execute(() => sql`${periods(condition, part)} ${sql.raw(insertKeys(table))}`)
    yield* execute(
      () => sql`${periods(condition, part)}, ${sql.raw(`${slices(table)} ${update(table, '+')}`)}`,
    )
  }
}

/** The same, but subtracts the rows; a period that is left without requests is deleted. */
export function* subtractFromTotals(condition: SQL, parts = allParts): Script<void> {
  for (const part of parts) {
    const table = tableOf(part)
    yield* execute(
      () => sql`${periods(condition, part)}, ${sql.raw(`${slices(table)} ${update(table, '-')}`)}`,
    )
    yield* execute(() => sql`${periods(condition, part)} ${sql.raw(deleteEmpty(table))}`)
  }
}

/** The totals, or the sums that begin at one time. */
type Part = 'totals' | SumsStart

const allParts: readonly Part[] = ['totals', ...allStarts]

function tableOf(part: Part): TotalsTable {
  return part === 'totals' ? 'usage_totals' : sumsStarts[part]
}

/** SQL for the tags of a row of `usage`, one a row. See `unstorableEscape`. */
export const tagsSql = String.raw`json_array_elements_text((CASE WHEN strpos(usage.tags, '\u') = 0 THEN usage.tags
    ELSE regexp_replace(usage.tags, '${unstorableEscape}', '\1' || chr(65533), 'g') END)::json)`

/** SQL that joins each row of `usage` with its tags. A tag that a request repeats counts once. */
export const tagsJoinSql = `LEFT JOIN LATERAL (SELECT DISTINCT value FROM ${tagsSql}) tag ON true`

const keysOfTotals = [...Object.keys(totalsKeySql), 'width', 'start']

function keysOf(table: TotalsTable): readonly string[] {
  return table === 'usage_names' ? [...keysOfTotals, 'level', 'value'] : keysOfTotals
}

/** The index of `usage_names` has the hash of their value. */
function sameKey(table: TotalsTable, other: string): string {
  return keysOf(table)
    .map((key) => (key === 'value' ? `md5(t.value) = md5(${other}.value)` : `t.${key} = ${other}.${key}`))
    .join(' AND ')
}

/** SQL for what a row of `usage` adds to each sum, but for the cost. */
export const amounts: Readonly<Record<(typeof sumColumns)[number][0], string>> = {
  requests: '1',
  failed: `${failedSql}::int`,
  client_errors: '(usage.status BETWEEN 400 AND 498)::int',
  server_errors: '(usage.status >= 500)::int',
  prompt_tokens: 'usage.prompt_tokens',
  completion_tokens: 'usage.completion_tokens',
  cached_tokens: 'usage.cached_tokens',
  cache_write_tokens: 'usage.cache_write_tokens',
  reasoning_tokens: 'usage.reasoning_tokens',
  priced: `(usage.cost IS NOT NULL AND ${hasTokensSql})::int`,
  unpriced: `(usage.cost IS NULL AND ${hasTokensSql})::int`,
}

const sums = [...sumColumns.map(([column]) => column), 'cost']

/** The most milliseconds, of two digits, that the column of a histogram holds. */
const maxTime = 2_100_000_000

/** SQL for the rounded time of a request that succeeded, as an element of a histogram; null if it has none. */
export function histogramTimeSql(column: 'latency_ms' | 'first_token_ms'): string {
  return `CASE WHEN usage.${column} IS NOT NULL AND NOT ${failedSql}
    THEN least(${roundedTimeSql(column)}, ${maxTime})::int END`
}

/**
 * The rows, once for each period that they are part of. Of the totals, those of organizations that exist; of the sums,
 * those that are part of them.
 */
function periods(condition: SQL, part: Part): SQL {
  const key = part === 'totals' ? totalsKeySql : sumsKeySql
  const columns = [
    ...Object.entries(key).map(([name, expression]) => `${expression} ${name}`),
    part === 'totals' ? 'usage.project_id' : 'NULL::text project_id',
    'w.width',
    'usage.created_at / w.ms * w.ms start',
    ...Object.entries(amounts).map(([name, expression]) => `${expression} ${name}`),
    'coalesce(usage.cost, 0) cost',
    `${histogramTimeSql('latency_ms')} latency`,
    `${histogramTimeSql('first_token_ms')} first_token`,
  ]
  const rows =
    part === 'totals'
      ? `CROSS JOIN (VALUES ('hour', ${widthsMs.hour}), ('day', ${widthsMs.day})) w (width, ms)
      WHERE ${ownerExistsSql}`
      : `CROSS JOIN LATERAL (VALUES ${levelsFrom(part).flatMap(sumsOfLevel).join()}) w (level, width, ms, organization_id, api, model, provider, value)
      WHERE ${isSummedSql(part)}`
  return sql`WITH periods AS (SELECT ${sql.raw(columns.join())} FROM usage ${sql.raw(rows)} AND ${condition})`
}

/** The sums of a level that a row of `usage` is part of: their level, width, organization, API, model, provider and value. */
function sumsOfLevel(level: SumsLevel): readonly string[] {
  const { by, widths, named } = sumsLevels[level]
  const { organization_id: organization, api, model, provider } = totalsKeySql
  const values = Object.entries({ organization, api, model, provider })
  const key = values.map(([name, expression]) => (by.has(name) ? expression : "''"))
  const value = named ? `coalesce(usage."${namedColumns[named]}", '')` : "''"
  return widths.map((width) => `('${level}', '${width}', ${widthsMs[width]}, ${key.join()}, ${value})`)
}

/** The columns that identify a row of `usage_sums`. */
const sumsKeySql = {
  organization_id: 'w.organization_id',
  key_id: "''",
  api: 'w.api',
  model: 'w.model',
  provider: 'w.provider',
  level: 'w.level',
  value: 'w.value',
}

function insertKeys(table: TotalsTable): string {
  const keys = keysOf(table)
  return `INSERT INTO ${table} (${keys.join()}) SELECT DISTINCT ${keys.join()} FROM periods
    ON CONFLICT DO NOTHING`
}

function slices(table: TotalsTable): string {
  const keys = keysOf(table).join()
  return `slices AS (
  SELECT ${keys}, ${projectSql} project_id, ${inProjectSql} in_project, ${sums.map((name) => `sum(${name}) ${name}`).join()},
    array_agg(latency) FILTER (WHERE latency IS NOT NULL) latencies,
    array_agg(first_token) FILTER (WHERE first_token IS NOT NULL) first_tokens
  FROM periods usage GROUP BY ${keys})`
}

function update(table: TotalsTable, sign: '+' | '-'): string {
  return `UPDATE ${table} t SET
    project_id = CASE WHEN t.requests = 0 THEN s.project_id ELSE t.project_id END,
    in_project = CASE WHEN t.requests = 0 THEN s.in_project ELSE ${changedInProjectSql('t', 's', sign)} END,
    ${sums.map((name) => `${name} = t.${name} ${sign} s.${name}`).join()},
    (latency_times, latency_counts) = ${changedHistogram('latency', 'latencies', sign)},
    (first_token_times, first_token_counts) = ${changedHistogram('first_token', 'first_tokens', sign)}
  FROM slices s WHERE ${sameKey(table, 's')}`
}

function changedHistogram(name: 'latency' | 'first_token', times: string, sign: '+' | '-'): string {
  return `(SELECT coalesce(array_agg(time ORDER BY time), '{}'), coalesce(array_agg(count ORDER BY time), '{}') FROM (
    SELECT time, sum(count)::int count FROM (
      SELECT unnest(t.${name}_times) time, unnest(t.${name}_counts) count
      UNION ALL SELECT unnest(s.${times}), ${sign}1) entries
    GROUP BY time HAVING sum(count) > 0) counted)`
}

function deleteEmpty(table: TotalsTable): string {
  return `DELETE FROM ${table} t USING (SELECT DISTINCT ${keysOf(table).join()} FROM periods) p
    WHERE ${sameKey(table, 'p')} AND t.requests <= 0`
}
