import { maxGroups } from '../../common/report-limits.ts'
import { failedSql, roundedTimeSql, sumColumns } from '../../common/usage-totals.ts'
import { bucketWidths, type UsageBucketQuery, type UsageDimension } from '../../ports/usage-buckets.ts'
import { Parameters, type Statement } from '../writer/statement.ts'
import { amounts, ownerExistsSql, tagsJoinSql } from './totals.ts'

/** Returns the statement of a report that reads and groups the rows of `usage` themselves. */
export function rowReport({
  organizations,
  width,
  from,
  to,
  groupBy,
  models,
  keys,
}: UsageBucketQuery): Statement {
  const parameters = new Parameters()
  const conditions = [
    `usage.created_at >= ${parameters.add(from)}`,
    `usage.created_at < ${parameters.add(to)}`,
    organizations === undefined
      ? ownerExistsSql
      : `usage.organization_id = ANY(${parameters.add(organizations)})`,
    ...(models === undefined ? [] : [`usage.model = ANY(${parameters.add(models)})`]),
    ...(keys === undefined ? [] : [`usage.key_id = ANY(${parameters.add(keys)})`]),
  ]
  const widthMs = bucketWidths[width]
  const values = groupBy.map((dimension, index) => `${dimensions[dimension]} AS value${index}`)
  const columns = [`usage.created_at / ${widthMs} * ${widthMs} AS start`, ...values, sums]
  const places = groupBy.map((_, index) => index + 2)
  const text = `SELECT ${columns.join()} FROM usage ${groupBy.includes('tag') ? tagsJoinSql : ''}
    WHERE ${conditions.join(' AND ')} GROUP BY ${[1, ...places].join()}
    ORDER BY ${['1', 'count(*) DESC', ...places].join()} LIMIT ${maxGroups + 1}`
  return { text, values: parameters.values }
}

const dimensions: Readonly<Record<UsageDimension, string>> = {
  organization: 'usage.organization_id',
  key: 'usage.key_id',
  api: 'usage.api',
  model: "nullif(usage.model, '')",
  provider: "nullif(usage.provider, '')",
  user: 'usage."user"',
  tag: 'tag.value',
}

const sums = `${sumColumns.map(([column, field]) => `sum(${amounts[column]})::bigint AS "${field}"`).join()},
  coalesce(sum(usage.cost), 0)::text AS cost,
  ${percentile(0.5, 'latency_ms')} AS "latency50", ${percentile(0.95, 'latency_ms')} AS "latency95",
  ${percentile(0.5, 'first_token_ms')} AS "first50", ${percentile(0.95, 'first_token_ms')} AS "first95"`

/** The percentile of successful requests by the nearest rank, of times that are rounded down to two digits. */
function percentile(fraction: number, column: 'latency_ms' | 'first_token_ms'): string {
  const time = `percentile_disc(${fraction}) WITHIN GROUP (ORDER BY ${roundedTimeSql(column)})`
  return `${time} FILTER (WHERE usage.${column} IS NOT NULL AND NOT ${failedSql})`
}
