import type { TimeRange, TotalsPeriods, UsageReading, UsageSource } from '../usage/reports.ts'
import {
  isMixedSql,
  rowPropertiesSql,
  sumColumnsOf,
  totalsKeySql,
  totalsProjectSql,
  type TotalsTable,
  type TotalsWidth,
  widthsMs,
} from '../usage/slices.ts'
import {
  isNamed,
  type NamedLevel,
  type SumsLevel,
  summedFromSql,
  sumsFor,
  sumsLevels,
} from '../usage/sums.ts'
import { addArrays } from './add-arrays.ts'
import type { Database } from './connection/database.ts'
import { amounts, histogramTimeSql, tagsJoinSql, tagsSql } from './usage-totals.ts'
import { type SliceRow, sliceReader } from './slice-rows.ts'
import { isLateSql } from './usage-subtraction.ts'
import { Parameters, type Statement } from './writer/statement.ts'

/** The usage in the PostgreSQL database. */
export function createUsageSource({ readPages }: Pick<Database, 'readPages'>): UsageSource {
  return {
    addTimes: addArrays,
    async readSlices(reading, onSlices, { step, timeoutMs, timeoutError }) {
      const toSlice = sliceReader(reading)
      await readPages<SliceRow>(slicesStatement(reading), timeoutMs, timeoutError, async (rows) => {
        for (let index = 0; index < rows.length; index += stepSlices)
          await step(() => onSlices(rows.slice(index, index + stepSlices).map(toSlice)))
      })
    },
  }
}

/** The slices that are added in one turn of the event loop. */
const stepSlices = 200

/**
 * Returns the statement that reads the slices (`SliceRow`) of requests: the totals, and the rows that are not part of
 * them. It is one statement, so that it sees the totals and the time that they cover at the same moment.
 */
export function slicesStatement(reading: UsageReading): Statement {
  const { ranges, by, widthMs, sums } = reading
  const parameters = new Parameters()
  const within = (time: string, { from, to }: TimeRange) =>
    `${time} >= ${parameters.add(from)}::bigint AND ${time} < ${parameters.add(to)}::bigint`
  // With a lower bound that it does not know, the server expects few rows and uses the index: that is right.
  const sinceUntil = (time: string, { from, to }: TimeRange) =>
    `${time} >= greatest(${parameters.add(from)}::bigint, ${until}) AND ${time} < ${parameters.add(to)}::bigint`
  const filters = filtersOf(reading, parameters)
  const shape = { filters, rowFilters: rowFiltersOf(reading, parameters), by, widthMs, sums }
  const parts = [
    ...ranges.totals.flatMap((range) => {
      const level = sumsFor(reading, range.width)
      if (level !== undefined) return sumsAndOlder(level, range, shape, parameters)
      const condition = `t.width = '${range.width}' AND ${within('t.start', range)}`
      if (!by.has('project')) return [totals('usage_totals', condition, shape)]
      return [
        totals('usage_totals', `${condition} AND NOT ${isMixedSql}`, shape),
        rows(mixedRows(range.width, condition), 'true', shape),
      ]
    }),
    rows('usage', sinceUntil('usage.created_at', ranges.covered), shape),
    rows(
      'usage_late l JOIN usage USING (created_at, id)',
      `${within('l.created_at', ranges.covered)} AND l.created_at < ${until}`,
      shape,
    ),
    ...ranges.rows.map((range) => rows('usage', within('usage.created_at', range), shape)),
  ]
  return { text: parts.join('\nUNION ALL '), values: parameters.values }
}

const until = '(SELECT until FROM usage_rollup)'

/** The sums of a range from the time on at which there are some of this level, and before it the totals or the rows. */
function sumsAndOlder(
  level: SumsLevel,
  { width, ...range }: TotalsPeriods,
  shape: Shape,
  parameters: Parameters,
): readonly string[] {
  const [from, to] = [range.from, range.to].map((time) => `${parameters.add(time)}::bigint`)
  const summedFrom = summedFromSql(level)
  const ofSums = (start: string) =>
    `t.width = '${width}' AND t.start >= greatest(${from}, ${start}) AND t.start < ${to}`
  // The last condition keeps the server from reading anything if there are only sums, whatever it expects.
  const before = (time: string, end: string) =>
    `${time} >= ${from} AND ${time} < least(${to}, ${end}) AND ${from} < ${end}`
  if (!isNamed(level))
    return [
      totals('usage_totals', `t.width = '${width}' AND ${before('t.start', summedFrom)}`, shape),
      totals(
        'usage_sums',
        `${ofSums(summedFrom)} AND t.organization_id ${level === 'all' ? '=' : '<>'} ''`,
        shape,
      ),
    ]
  const firstPeriod = `(${summedFrom} + ${widthsMs[width] - 1}) / ${widthsMs[width]} * ${widthsMs[width]}`
  const older = `${before('usage.created_at', firstPeriod)} AND usage.created_at < ${until} AND NOT ${isLateSql}`
  return [rows('usage', older, shape), namedSums(level, ofSums(firstPeriod), shape)]
}

/**
 * The rows of `usage` that are part of totals with requests of several projects; those that are late are not yet. The server
 * cannot know how few periods have any: `OFFSET 0` makes it look for them first, and then read the rows of each.
 */
function mixedRows(width: TotalsWidth, condition: string): string {
  const same = Object.entries(totalsKeySql).map(([name, sql]) => `t.${name} = ${sql}`)
  const end = `least(period.start + ${widthsMs[width]}, ${until})`
  return `(SELECT DISTINCT t.start FROM usage_totals t WHERE ${condition} AND ${isMixedSql} OFFSET 0) period
    CROSS JOIN LATERAL (SELECT * FROM usage
      WHERE usage.created_at >= period.start AND usage.created_at < ${end}
        AND EXISTS (SELECT 1 FROM usage_totals t
          WHERE t.width = '${width}' AND t.start = period.start AND ${same.join(' AND ')} AND ${isMixedSql})
        AND NOT ${isLateSql}
      OFFSET 0) usage`
}

/** How slices are made of what is read. */
type Shape = Pick<UsageReading, 'by' | 'widthMs' | 'sums'> & {
  readonly filters: string
  /** Of rows; totals do not have these properties. */
  readonly rowFilters: readonly string[]
}

/**
 * The sums of slices that are needed; all parts of a statement have the same columns. Double precision is as exact as the
 * numbers that they are read to, and takes half the time of bigint.
 */
function sumsOf({ sums }: Shape, latencies: string, firstTokens: string): readonly string[] {
  return [
    `concat_ws(',', ${sumColumnsOf(sums)
      .map(([column]) => `sum(t.${column}::float8)::bigint`)
      .join()}) counts`,
    ...(sums === 'usage' ? [] : ['coalesce(sum(t.cost), 0)::text cost']),
    ...(sums === 'costs' ? [] : [`${latencies} latencies`, `${firstTokens} "firstTokens"`]),
  ]
}

/** What a slice is of, as far as slices differ in it. */
function placeOf(start: string, { by, widthMs }: Shape): readonly string[] {
  return [
    ...(widthMs === undefined ? [] : [`${start} start`]),
    ...Object.entries(columns).flatMap(([name, column]) => (by.has(name) ? [`${column} "${name}"`] : [])),
  ]
}

/** SQL for the start of the bucket of a time: of each time the same if there is only one. */
function startOf(time: string, { widthMs }: Shape): string {
  return widthMs === undefined ? '0::bigint' : `${time} / ${widthMs} * ${widthMs}`
}

function totals(table: TotalsTable, condition: string, shape: Shape): string {
  return sumsIn(`SELECT t.*, ${totalsProjectSql} project FROM ${table} t`, condition, shape)
}

/** The sums of what clients have named, as the rows of `usage` have it. */
function namedSums(level: NamedLevel, condition: string, shape: Shape): string {
  const [tag, join] = shape.by.has('tag') ? [`, ${rowPropertiesSql.tag} tag`, tagsJoinSql] : ['', '']
  const source = `SELECT usage.*${tag}
    FROM (SELECT t.*, nullif(t.value, '') "${sumsLevels[level].named}" FROM usage_names t
      WHERE t.level = '${level}' AND ${condition}) usage
    ${join} WHERE ${['true', ...shape.rowFilters].join(' AND ')}`
  return sumsIn(source, 'true', shape)
}

function sumsIn(source: string, condition: string, shape: Shape): string {
  const { filters, by } = shape
  const joined = (name: string) =>
    `string_agg(t.${name}_times::text || CASE WHEN t.requests = 1 THEN '{}' ELSE t.${name}_counts::text END, '')`
  const sums = sumsOf(shape, joined('latency'), joined('first_token'))
  const start = startOf('t.start', shape)
  return `SELECT ${[...placeOf(start, shape), ...sums].join()}
    FROM (${source}) t WHERE ${condition} AND ${filters}
    GROUP BY ${[start, ...columnsOf(by)].join()}`
}

function rows(source: string, condition: string, shape: Shape): string {
  const { filters, rowFilters, by } = shape
  const read = [
    ...Object.entries(totalsKeySql).map(([name, sql]) => `${sql} ${name}`),
    `${startOf('usage.created_at', shape)} start`,
    ...Object.entries(rowPropertiesSql).flatMap(([name, sql]) => (by.has(name) ? [`${sql} "${name}"`] : [])),
    ...sumColumnsOf(shape.sums).map(([column]) => `${amounts[column]} ${column}`),
    'usage.cost',
    `${histogramTimeSql('latency_ms')} latency`,
    `${histogramTimeSql('first_token_ms')} first_token`,
  ]
  const times = (name: string) =>
    `coalesce(array_agg(t.${name}) FILTER (WHERE t.${name} IS NOT NULL)::text, '{}') || '{}'`
  const sums = sumsOf(shape, times('latency'), times('first_token'))
  return `SELECT ${[...placeOf('t.start', shape), ...sums].join()}
    FROM (SELECT ${read.join()} FROM ${source} ${by.has('tag') ? tagsJoinSql : ''}
      WHERE ${[condition, ...rowFilters].join(' AND ')}) t WHERE ${filters}
    GROUP BY ${['t.start', ...columnsOf(by)].join()}`
}

const columns: Readonly<Record<string, string>> = {
  organization: 't.organization_id',
  key: 't.key_id',
  api: 't.api',
  model: 't.model',
  provider: 't.provider',
  ...Object.fromEntries(Object.keys(rowPropertiesSql).map((name) => [name, `t."${name}"`])),
}

function columnsOf(by: ReadonlySet<string>): readonly string[] {
  return [...by].flatMap((dimension) => columns[dimension] ?? [])
}

function rowFiltersOf(
  { users, sessions, tags, by }: UsageReading,
  parameters: Parameters,
): readonly string[] {
  const isIn = (column: string, list: readonly string[] | undefined): readonly string[] =>
    list === undefined ? [] : [`${column} = ANY(${parameters.add(list)})`]
  return [
    ...isIn(rowPropertiesSql.user, users),
    ...isIn(rowPropertiesSql.session, sessions),
    ...(by.has('tag')
      ? isIn(rowPropertiesSql.tag, tags)
      : isIn('value', tags).map((found) => `EXISTS (SELECT 1 FROM ${tagsSql} value WHERE ${found})`)),
  ]
}

function filtersOf({ organizations, projects, models, keys }: UsageReading, parameters: Parameters): string {
  return [
    organizations === undefined
      ? // The row of a deleted organization stays. There are few of them, which is faster to join than those that exist.
        'NOT EXISTS (SELECT 1 FROM organizations o WHERE o.id = t.organization_id AND o.deletion IS NOT NULL)'
      : `t.organization_id = ANY(${parameters.add(organizations)})`,
    ...(projects === undefined ? [] : [`t.project = ANY(${parameters.add(projects)})`]),
    ...(models === undefined ? [] : [`t.model = ANY(${parameters.add(models)})`]),
    ...(keys === undefined ? [] : [`t.key_id = ANY(${parameters.add(keys)})`]),
  ].join(' AND ')
}
