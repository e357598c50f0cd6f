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
  totalsKeySql,
  type TotalsTable,
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
import { execute, type RowKey, type Script } from '../statement.ts'

/** Part of a transaction that has the totals locked: adds the rows with this condition to these parts, by default to all. */
export function* addToTotals(condition: SQL, parts = allParts): Script<void> {
  for (const part of parts) yield* execute(() => change(condition, part, '+'))
}

/** The same, but subtracts the rows; a period that is left without requests is deleted. */
function* subtractFromTotals(condition: SQL, parts = allParts): Script<void> {
  for (const part of parts) {
    yield* execute(() => change(condition, part, '-'))
    yield* execute(() => sql`${periods(condition, part)} ${sql.raw(deleteEmpty(tableOf(part)))}`)
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

/** What is unique in a row. That of `usage_names` has no key, and a hash of the value. */
function uniqueOf(table: TotalsTable, row: string): readonly string[] {
  const names = table === 'usage_names' ? keysOf(table).filter((name) => name !== 'key_id') : keysOf(table)
  return names.map((name) => (name === 'value' ? `md5(${row}value)` : `${row}${name}`))
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

/**
 * The statement that adds rows of `usage` to a table, or subtracts them. It finds each total by the unique index, also in a new
 * table, of which the server knows nothing yet: an UPDATE would then look at every row for every slice.
 */
function change(condition: SQL, part: Part, sign: '+' | '-'): SQL {
  const table = tableOf(part)
  const columns = [...keysOf(table), 'project_id', 'in_project', ...sums, ...histograms.flatMap(columnsOf)]
  const values = [
    ...[...keysOf(table), 'project_id', 'in_project'].map((name) => `s.${name}`),
    ...sums.map((name) => `${sign}s.${name}`),
    ...histograms.flatMap((name) => columnsOf(name).map((column) => `${name}.${column}`)),
  ]
  const changes = [
    `in_project = ${changedInProjectSql('t', 'excluded', sign)}`,
    ...sums.map((name) => `${name} = t.${name} + excluded.${name}`),
    ...histograms.map(
      (name) =>
        `(${columnsOf(name).join()}) = (${histogramSql(name, changedTimes(name), 'HAVING sum(count) > 0')})`,
    ),
  ]
  const listed = histograms.map((name) => {
    const entries = `SELECT unnest(s.${name}_list) time, ${sign}1 count`
    return `CROSS JOIN LATERAL (${histogramSql(name, entries)}) ${name}`
  })
  return sql`${periods(condition, part)}, ${sql.raw(`${slices(table)}
    INSERT INTO ${table} AS t (${columns.join()}) SELECT ${values.join()} FROM slices s ${listed.join(' ')}
    ON CONFLICT (${uniqueOf(table, '').join()}) DO UPDATE SET ${changes.join()}`)}`
}

const histograms = ['latency', 'first_token'] as const

type HistogramName = (typeof histograms)[number]

function columnsOf(name: HistogramName): readonly string[] {
  return [`${name}_times`, `${name}_counts`]
}

function slices(table: TotalsTable): string {
  const keys = keysOf(table).join()
  const added = [
    ...sums.map((name) => `sum(${name}) ${name}`),
    ...histograms.map((name) => `array_agg(${name}) FILTER (WHERE ${name} IS NOT NULL) ${name}_list`),
  ]
  return `slices AS (
  SELECT ${keys}, ${projectSql} project_id, ${inProjectSql} in_project, ${added.join()}
  FROM periods usage GROUP BY ${keys})`
}

/** SQL for a histogram of entries: times, and how many requests took each. */
function histogramSql(name: HistogramName, entries: string, having = ''): string {
  const [times, counts] = columnsOf(name)
  return `SELECT coalesce(array_agg(time ORDER BY time), '{}') ${times}, coalesce(array_agg(count ORDER BY time), '{}') ${counts}
    FROM (SELECT time, sum(count)::int count FROM (${entries}) entries GROUP BY time ${having}) counted`
}

/** SQL for the entries of totals `t` and of what is added to them. */
function changedTimes(name: HistogramName): string {
  const [times, counts] = columnsOf(name)
  return ['t', 'excluded']
    .map((row) => `SELECT unnest(${row}.${times}) time, unnest(${row}.${counts}) count`)
    .join(' UNION ALL ')
}

function deleteEmpty(table: TotalsTable): string {
  return `DELETE FROM ${table} t USING (SELECT DISTINCT ${keysOf(table).join()} FROM periods) p
    WHERE (${uniqueOf(table, 't.').join()}) = (${uniqueOf(table, 'p.').join()}) AND t.requests <= 0`
}

/** SQL that is true for a row of `usage` that was recorded late, and is not part of the totals yet. */
export const isLateSql =
  'EXISTS (SELECT 1 FROM usage_late l WHERE l.created_at = usage.created_at AND l.id = usage.id)'
export const isLate = sql.raw(isLateSql)

const isCounted = sql`usage.created_at < (SELECT until FROM usage_rollup) AND NOT ${isLate}`

/** See `SubtractDeleted`. */
export function* subtractDeleted(lastCreatedAt: number, lastId: string): Script<void> {
  const last = keyOf({ time: lastCreatedAt, id: lastId })
  yield* subtractFromTotals(sql`(usage.created_at, usage.id) <= ${last} AND ${isCounted}`)
  yield* execute(() => sql`DELETE FROM usage_late WHERE (created_at, id) <= ${last}`)
}

/** See `SubtractSums`. */
export function* subtractSums(organization: string, after: RowKey, end: RowKey): Script<void> {
  const condition = sql`(usage.created_at, usage.id) > ${keyOf(after)}
    AND (usage.created_at, usage.id) <= ${keyOf(end)} AND usage.organization_id = ${organization} AND ${isCounted}`
  yield* subtractFromTotals(condition, allStarts)
}

function keyOf({ time, id }: RowKey) {
  return sql`(${time}::bigint, ${id})`
}
