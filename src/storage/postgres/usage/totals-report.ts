import { maxGroups } from '../../common/report-limits.ts'
import { sumColumns, type TotalsWidth, totalsKeySql } from '../../common/usage-totals.ts'
import { bucketWidths, type UsageBucketQuery, type UsageDimension } from '../../ports/usage-buckets.ts'
import { Parameters, type Statement } from '../writer/statement.ts'
import { amounts, histogramTimeSql } from './totals.ts'

/**
 * Returns the statement of a report that reads the totals, and adds the rows that are not part of them. It is one
 * statement, so that it sees the totals and the time that they cover at the same moment: each request counts once.
 */
export function totalsReport(query: UsageBucketQuery, width: TotalsWidth): Statement {
  const parameters = new Parameters()
  const [from, to] = [parameters.add(query.from), parameters.add(query.to)]
  const filters = filtersOf(query, parameters)
  const groups = ['start', ...query.groupBy.map((_, index) => `value${index}`)]
  const dimensions = query.groupBy.map((dimension, index) => `${columns[dimension]} value${index}`)
  // Empty where the requests have none.
  const values = query.groupBy.map((_, index) => `nullif(s.value${index}, '') value${index}`)
  const ofTotals = `SELECT ${['t.start', ...dimensions, ...sumColumns.map(([column]) => `t.${column}`), 't.cost'].join()},
      t.latency_times, t.latency_counts, t.first_token_times, t.first_token_counts
    FROM usage_totals t ${filters}
    AND t.width = '${width}' AND t.start >= ${from}::bigint AND t.start < ${to}::bigint`
  const ofRows = (source: string) => rowSlices(source, bucketWidths[query.width], dimensions, filters)
  const text = `WITH covered AS (SELECT until FROM usage_rollup),
    found AS (${ofTotals}
      UNION ALL ${ofRows(`usage WHERE usage.created_at >= greatest(${from}::bigint, (SELECT until FROM covered))
        AND usage.created_at < ${to}::bigint`)}
      UNION ALL ${ofRows(`usage_late l JOIN usage USING (created_at, id) WHERE l.created_at >= ${from}::bigint
        AND l.created_at < least(${to}::bigint, (SELECT until FROM covered))`)}),
    slices AS MATERIALIZED (SELECT dense_rank() OVER (ORDER BY ${groups.join()}) place, found.* FROM found),
    sums AS (SELECT place, ${groups.join()}, ${sumsOfSlices} FROM slices GROUP BY ${['place', ...groups].join()}),
    ${percentiles('latency')}, ${percentiles('first_token')}
    SELECT ${['s.start', ...values, ...fields].join()}, latency.p50 "latency50", latency.p95 "latency95",
      first_token.p50 "first50", first_token.p95 "first95"
    FROM sums s LEFT JOIN latency USING (place) LEFT JOIN first_token USING (place)
    ORDER BY s.start, s.requests DESC, s.place LIMIT ${maxGroups + 1}`
  return { text, values: parameters.values }
}

/** The dimensions of a table or a subquery named `t`; labels have no totals. */
const columns: Readonly<Partial<Record<UsageDimension, string>>> = {
  organization: 't.organization_id',
  key: 't.key_id',
  api: 't.api',
  model: 't.model',
  provider: 't.provider',
}

function filtersOf({ organizations, models, keys }: UsageBucketQuery, parameters: Parameters): string {
  const conditions = [
    organizations === undefined
      ? 'EXISTS (SELECT 1 FROM organizations o WHERE o.id = t.organization_id AND o.deletion IS NULL)'
      : `t.organization_id = ANY(${parameters.add(organizations)})`,
    ...(models === undefined ? [] : [`t.model = ANY(${parameters.add(models)})`]),
    ...(keys === undefined ? [] : [`t.key_id = ANY(${parameters.add(keys)})`]),
  ]
  return `WHERE ${conditions.join(' AND ')}`
}

/** The rows of `usage` as slices: the times of a group are a list, each of which counts once. */
function rowSlices(source: string, widthMs: number, dimensions: readonly string[], filters: string): string {
  const read = [
    ...Object.entries(totalsKeySql).map(([name, sql]) => `${sql} ${name}`),
    `usage.created_at / ${widthMs} * ${widthMs} start`,
    ...sumColumns.map(([column]) => `${amounts[column]} ${column}`),
    'coalesce(usage.cost, 0) cost',
    `${histogramTimeSql('latency_ms')} latency`,
    `${histogramTimeSql('first_token_ms')} first_token`,
  ]
  const sums = [...sumColumns.map(([column]) => column), 'cost'].map((name) => `sum(t.${name})`)
  const times = (name: string) => `array_agg(t.${name}) FILTER (WHERE t.${name} IS NOT NULL), NULL::int[]`
  return `SELECT ${['t.start', ...dimensions, ...sums].join()}, ${times('latency')}, ${times('first_token')}
    FROM (SELECT ${read.join()} FROM ${source}) t ${filters}
    GROUP BY ${['t.start', ...dimensions.map((_, index) => index + 2)].join()}`
}

const fields = [...sumColumns.map(([, field]) => `s."${field}"`), 's.cost']

const sumsOfSlices = [
  ...sumColumns.map(([column, field]) => `sum(${column})::bigint "${field}"`),
  'sum(cost)::text cost',
].join()

/** Percentiles by the nearest rank, of the histograms of all slices of a group. */
function percentiles(name: 'latency' | 'first_token'): string {
  return `${name}_entries AS (
      SELECT place::int, unnest(${name}_times) time, unnest(${name}_counts) count FROM slices),
    ${name}_ranks AS (
      SELECT place, time, sum(coalesce(count, 1)) OVER w rank, sum(coalesce(count, 1)) OVER (PARTITION BY place) size
      FROM ${name}_entries WINDOW w AS (PARTITION BY place ORDER BY time ROWS UNBOUNDED PRECEDING)),
    ${name} AS (
      SELECT place, min(time) FILTER (WHERE rank * 2 >= size) p50, min(time) FILTER (WHERE rank * 20 >= size * 19) p95
      FROM ${name}_ranks GROUP BY place)`
}
