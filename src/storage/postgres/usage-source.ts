import type { AddTimes } from '../usage/groups.ts'
import type { TimeRange, UsageReading, UsageSource } from '../usage/reports.ts'
import { errorSql, type ReportSlice, sumColumnsOf, totalsKeySql, type UsageLabel } from '../usage/slices.ts'
import type { Database } from './connection/database.ts'
import { amounts, histogramTimeSql, tagsJoinSql } from './usage-totals.ts'
import { Parameters, type Statement } from './writer/statement.ts'

/** The usage in the PostgreSQL database. */
export function createUsageSource({ readPages }: Pick<Database, 'readPages'>): UsageSource {
  return {
    addTimes: addArrays,
    async readSlices(reading, onSlices, { step, timeoutMs, timeoutError }) {
      await readPages<ReportSlice>(slicesStatement(reading), timeoutMs, timeoutError, async (slices) => {
        for (let index = 0; index < slices.length; index += stepSlices)
          await step(() => onSlices(slices.slice(index, index + stepSlices)))
      })
    },
  }
}

/** The slices that are added in one turn of the event loop. */
const stepSlices = 200

/**
 * Returns the statement that reads the slices (`ReportSlice`) of requests: the totals, and the rows that are not part of
 * them. It is one statement, so that it sees the totals and the time that they cover at the same moment.
 */
export function slicesStatement({
  ranges,
  by,
  widthMs,
  costsOnly,
  label,
  ...requests
}: UsageReading): Statement {
  const parameters = new Parameters()
  const filters = filtersOf(requests, parameters)
  const within = (time: string, { from, to }: TimeRange) =>
    `${time} >= ${parameters.add(from)}::bigint AND ${time} < ${parameters.add(to)}::bigint`
  // With a lower bound that it does not know, the server expects few rows and uses the index: that is right.
  const sinceUntil = (time: string, { from, to }: TimeRange) =>
    `${time} >= greatest(${parameters.add(from)}::bigint, ${until}) AND ${time} < ${parameters.add(to)}::bigint`
  const shape = { filters, by, widthMs, costsOnly, label }
  const parts = [
    ...ranges.totals.map((range) =>
      totals(`t.width = '${range.width}' AND ${within('t.start', range)}`, shape),
    ),
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

/** How slices are made of what is read. */
type Shape = Pick<UsageReading, 'by' | 'widthMs' | 'costsOnly'> & {
  readonly filters: string
  readonly label: UsageLabel | undefined
}

/** The times of slices, if they are needed; all parts of a statement have the same columns. */
function timesOf({ costsOnly }: Shape, latencies: string, firstTokens: string): readonly string[] {
  return costsOnly ? [] : [`${latencies} latencies`, `${firstTokens} "firstTokens"`]
}

/** SQL for the start of the bucket of a time: of each time the same if there is only one. */
function startOf(time: string, { widthMs }: Shape): string {
  return widthMs === undefined ? '0::bigint' : `${time} / ${widthMs} * ${widthMs}`
}

function totals(condition: string, shape: Shape): string {
  const { filters, by } = shape
  const joined = (name: string) =>
    `'{' || coalesce(string_agg(nullif(array_to_string(t.${name}, ','), ''), ','), '') || '}'`
  const sums = [
    ...sumColumnsOf(shape.costsOnly).map(([column, field]) => `sum(t.${column})::bigint "${field}"`),
    'sum(t.cost)::text cost',
    ...timesOf(
      shape,
      `${joined('latency_times')} || ${joined('latency_counts')}`,
      `${joined('first_token_times')} || ${joined('first_token_counts')}`,
    ),
  ]
  const start = startOf('t.start', shape)
  return `SELECT ${[`${start} start`, ...propertiesOf(by), 'NULL::text label', ...sums].join()}
    FROM usage_totals t WHERE ${condition} AND ${filters}
    GROUP BY ${[start, ...columnsOf(by)].join()}`
}

function rows(source: string, condition: string, shape: Shape): string {
  const { filters, by, label } = shape
  const read = [
    ...Object.entries(totalsKeySql).map(([name, sql]) => `${sql} ${name}`),
    `${startOf('usage.created_at', shape)} start`,
    `${labelSql(label)} label`,
    ...sumColumnsOf(shape.costsOnly).map(([column]) => `${amounts[column]} ${column}`),
    'usage.cost',
    `${histogramTimeSql('latency_ms')} latency`,
    `${histogramTimeSql('first_token_ms')} first_token`,
  ]
  const times = (name: string) =>
    `coalesce(array_agg(t.${name}) FILTER (WHERE t.${name} IS NOT NULL)::text, '{}')`
  const sums = [
    ...sumColumnsOf(shape.costsOnly).map(([column, field]) => `sum(t.${column})::bigint "${field}"`),
    'coalesce(sum(t.cost), 0)::text cost',
    ...timesOf(shape, times('latency'), times('first_token')),
  ]
  return `SELECT ${['t.start', ...propertiesOf(by), 't.label', ...sums].join()}
    FROM (SELECT ${read.join()} FROM ${source} ${label === 'tag' ? tagsJoinSql : ''}
      WHERE ${condition}) t WHERE ${filters}
    GROUP BY ${['t.start', 't.label', ...columnsOf(by)].join()}`
}

function labelSql(label: UsageLabel | undefined): string {
  return label === undefined
    ? 'NULL::text'
    : { user: 'usage."user"', tag: 'tag.value', error: errorSql }[label]
}

const columns: Readonly<Record<string, string>> = {
  organization: 't.organization_id',
  key: 't.key_id',
  api: 't.api',
  model: 't.model',
  provider: 't.provider',
}

function columnsOf(by: ReadonlySet<string>): readonly string[] {
  return [...by].flatMap((dimension) => columns[dimension] ?? [])
}

function propertiesOf(by: ReadonlySet<string>): readonly string[] {
  return Object.entries(columns).flatMap(([name, column]) => (by.has(name) ? [`${column} "${name}"`] : []))
}

function filtersOf(
  { organizations, models, keys }: Pick<UsageReading, 'organizations' | 'models' | 'keys'>,
  parameters: Parameters,
): string {
  return [
    organizations === undefined
      ? 'EXISTS (SELECT 1 FROM organizations o WHERE o.id = t.organization_id AND o.deletion IS NULL)'
      : `t.organization_id = ANY(${parameters.add(organizations)})`,
    ...(models === undefined ? [] : [`t.model = ANY(${parameters.add(models)})`]),
    ...(keys === undefined ? [] : [`t.key_id = ANY(${parameters.add(keys)})`]),
  ].join(' AND ')
}

/** Adds the times of a slice: an array, and that of their numbers of requests; without it, each counts once. */
const addArrays: AddTimes = (histogram, stored) => {
  const [times = [], counts] = stored.slice(1, -1).split('}{').map(parseIntegers)
  for (let index = 0; index < times.length; index++) {
    const time = times[index] ?? 0
    histogram.set(time, (histogram.get(time) ?? 0) + (counts?.[index] ?? 1))
  }
}

function parseIntegers(list: string): readonly number[] {
  return JSON.parse(`[${list}]`) as readonly number[]
}
