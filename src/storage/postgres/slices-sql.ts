import type { UsageReading } from '../usage/reports.ts'
import {
  rowPropertiesSql,
  sumColumns,
  sumColumnsOf,
  totalsKeySql,
  totalsProjectSql,
  type TotalsTable,
} from '../usage/slices.ts'
import { namedColumns, type NamedLevel, sumsLevels } from '../usage/sums.ts'
import { amounts, histogramTimeSql, tagsJoinSql, tagsSql } from './usage-totals.ts'
import type { Parameters } from './writer/statement.ts'

/** How slices are made of what is read. */
export type Shape = Pick<UsageReading, 'by' | 'widthMs' | 'sums'> & {
  readonly filters: string
  /** Of rows; totals do not have these properties. */
  readonly rowFilters: readonly string[]
  /** Whether each row that is read is a slice. The server passes them on as it reads them, and adds nothing up. */
  readonly isOfSlices?: boolean
  /** Nothing is added up: of so many rows of each part, the places by these properties are read. */
  readonly sample?: Sample | undefined
}

export type Sample = { readonly by: ReadonlySet<string>; readonly rows: number }

/** The shape of the slices of a report; adds its values to the parameters. */
export function shapeOf(reading: UsageReading, parameters: Parameters, sample?: Sample): Shape {
  const { by, widthMs, sums } = reading
  const filters = filtersOf(reading, parameters)
  return { filters, rowFilters: rowFiltersOf(reading, parameters), by, widthMs, sums, sample }
}

/** SQL for the columns of a slice, of rows `t`. */
type SliceColumns = {
  count(column: string): string
  readonly cost: string
  times(name: 'latency' | 'first_token'): string
}

/** Those of totals, as they are. */
const readColumns: SliceColumns = {
  count: (column) => `t.${column}`,
  cost: 't.cost::text',
  times: (name) =>
    `t.${name}_times::text || CASE WHEN t.requests = 1 THEN '{}' ELSE t.${name}_counts::text END`,
}

/**
 * Those of totals that are added up. Double precision is as exact as the numbers that they are read to, and takes half the
 * time of bigint.
 */
const addedColumns: SliceColumns = {
  count: (column) => `sum(t.${column}::float8)::bigint`,
  cost: 'coalesce(sum(t.cost), 0)::text',
  times: (name) => `string_agg(${readColumns.times(name)}, '')`,
}

/** Those of rows of `usage` that are added up. */
const countedColumns: SliceColumns = {
  ...addedColumns,
  times: (name) => `coalesce(array_agg(t.${name}) FILTER (WHERE t.${name} IS NOT NULL)::text, '{}') || '{}'`,
}

/** The sums of slices as `SliceRow` has them; those that are not needed are 0 or empty. */
function sumsOf({ sums }: Shape, { count, cost, times }: SliceColumns): string {
  const needed = new Set(sumColumnsOf(sums).map(([column]) => column))
  const counts = sumColumns.map(([column]) => (needed.has(column) ? count(column) : '0'))
  const costOrNone = sums === 'usage' ? "''" : cost
  const histograms = sums === 'costs' ? ["''", "''"] : [times('latency'), times('first_token')]
  return `concat_ws('|', concat_ws(',', ${counts.join()}), ${costOrNone}, ${histograms.join()}) sums`
}

/** Returns the columns in which slices differ: the start of their bucket, and their groups. */
function placeOf(start: string, { by, widthMs }: Pick<Shape, 'by' | 'widthMs'>): readonly string[] {
  return [
    ...(widthMs === undefined ? [] : [`${start} start`]),
    ...Object.entries(columns).flatMap(([name, column]) => (by.has(name) ? [`${column} "${name}"`] : [])),
  ]
}

/** SQL for the start of the bucket of a time: of each time the same if there is only one. */
function startOf(time: string, { widthMs }: Shape): string {
  return widthMs === undefined ? '0::bigint' : `${time} / ${widthMs} * ${widthMs}`
}

/** The slices of the totals or the sums of a table. */
export function totals(table: TotalsTable, condition: string, shape: Shape): string {
  return sumsIn(`SELECT t.*, t.start time, ${totalsProjectSql} project FROM ${table} t`, condition, shape)
}

/** The sums of what clients have named, as the rows of `usage` have it. */
export function namedSums(level: NamedLevel, sums: string, shape: Shape): string {
  const [tag, join] = shape.by.has('tag') ? [`, ${rowPropertiesSql.tag} tag`, tagsJoinSql] : ['', '']
  const source = `SELECT usage.*, usage.start time${tag}
    FROM (SELECT t.*, nullif(t.value, '') "${namedColumns[sumsLevels[level].named]}" FROM ${sums}) usage
    ${join} WHERE ${['true', ...shape.rowFilters].join(' AND ')}`
  return sumsIn(source, 'true', shape)
}

function sumsIn(source: string, condition: string, shape: Shape): string {
  const read = `(${source}) t WHERE ${condition} AND ${shape.filters}`
  return slicesOf(read, startOf('t.start', shape), shape, shape.isOfSlices ? readColumns : addedColumns)
}

function slicesOf(source: string, start: string, shape: Shape, slice: SliceColumns): string {
  const { by, widthMs, sample, isOfSlices } = shape
  // In the order of an index: the server would read the table from its beginning until it has as many rows.
  if (sample !== undefined)
    return `(SELECT ${placeOf(start, { by: sample.by, widthMs }).join()} FROM ${source} ORDER BY t.time LIMIT ${sample.rows})`
  const groups = isOfSlices ? '' : `GROUP BY ${[start, ...columnsOf(by)].join()}`
  return `SELECT ${[...placeOf(start, shape), sumsOf(shape, slice)].join()} FROM ${source} ${groups}`
}

/** The slices of rows of `usage`. */
export function rows(source: string, condition: string, shape: Shape): string {
  const { filters, rowFilters, by } = shape
  const values = [
    ...Object.entries(totalsKeySql).map(([name, sql]) => `${sql} ${name}`),
    `${startOf('usage.created_at', shape)} start`,
    'usage.created_at time',
    ...Object.entries(rowPropertiesSql).flatMap(([name, sql]) => (by.has(name) ? [`${sql} "${name}"`] : [])),
    ...sumColumnsOf(shape.sums).map(([column]) => `${amounts[column]} ${column}`),
    'usage.cost',
    `${histogramTimeSql('latency_ms')} latency`,
    `${histogramTimeSql('first_token_ms')} first_token`,
  ]
  const read = `(SELECT ${values.join()} FROM ${source} ${by.has('tag') ? tagsJoinSql : ''}
    WHERE ${[condition, ...rowFilters].join(' AND ')}) t WHERE ${filters}`
  return slicesOf(read, 't.start', shape, countedColumns)
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
