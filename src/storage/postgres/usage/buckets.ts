import { maxGroups, reportTooLong, tooManyGroups } from '../../common/report-limits.ts'
import {
  bucketWidths,
  type UsageBucketGroup,
  type UsageBucketQuery,
  type UsageBuckets,
  type UsageDimension,
} from '../../ports/usage-buckets.ts'
import type { Timing } from '../../ports/usage-report.ts'
import type { Database } from '../connection/database.ts'
import { Parameters } from '../writer/statement.ts'
import { ReportSlots } from './report-slots.ts'

/** The reports by period from the PostgreSQL database: one statement reads and groups the rows of a report. */
export function createUsageBuckets({ readWithin }: Pick<Database, 'readWithin'>): UsageBuckets {
  const slots = new ReportSlots()
  return {
    read: (query) =>
      slots.run(async (timeoutMs) => {
        const { text, values } = bucketStatement(query)
        const rows = await readWithin<BucketRow>(text, values, timeoutMs, reportTooLong)
        if (rows.length > maxGroups) throw tooManyGroups()
        return rows.map((row) => toBucketGroup(row, query.groupBy))
      }),
  }
}

function bucketStatement({ organizations, width, from, to, groupBy, models, keys }: UsageBucketQuery) {
  const parameters = new Parameters()
  const conditions = [
    `usage.created_at >= ${parameters.add(from)}`,
    `usage.created_at < ${parameters.add(to)}`,
    organizations === undefined
      ? ownerExists
      : `usage.organization_id = ANY(${parameters.add(organizations)})`,
    ...(models === undefined ? [] : [`usage.model = ANY(${parameters.add(models)})`]),
    ...(keys === undefined ? [] : [`usage.key_id = ANY(${parameters.add(keys)})`]),
  ]
  const widthMs = bucketWidths[width]
  const values = groupBy.map((dimension, index) => `${dimensions[dimension]} AS value${index}`)
  const columns = [`usage.created_at / ${widthMs} * ${widthMs} AS start`, ...values, sums]
  const places = groupBy.map((_, index) => index + 2)
  const text = `SELECT ${columns.join()} FROM usage ${groupBy.includes('tag') ? tags : ''}
    WHERE ${conditions.join(' AND ')} GROUP BY ${[1, ...places].join()}
    ORDER BY ${['1', 'count(*) DESC', ...places].join()} LIMIT ${maxGroups + 1}`
  return { text, values: parameters.values }
}

const ownerExists =
  'EXISTS (SELECT 1 FROM organizations o WHERE o.id = usage.organization_id AND o.deletion IS NULL)'

const dimensions: Readonly<Record<UsageDimension, string>> = {
  organization: 'usage.organization_id',
  key: 'usage.key_id',
  api: 'usage.api',
  model: "nullif(usage.model, '')",
  provider: "nullif(usage.provider, '')",
  user: 'usage."user"',
  tag: 'tag.value',
}

/** A tag that a request repeats counts once. */
const tags = `LEFT JOIN LATERAL (
  SELECT DISTINCT value FROM json_array_elements_text(usage.tags::json)) tag ON true`

const failed = '(usage.error IS NOT NULL OR usage.status NOT BETWEEN 200 AND 299)'
const hasTokens = 'usage.prompt_tokens + usage.completion_tokens > 0'

/** The cost is text, because the sum of many costs may exceed the exact range of a number. */
const sums = `count(*) AS requests,
  count(*) FILTER (WHERE ${failed}) AS failed,
  count(*) FILTER (WHERE usage.status BETWEEN 400 AND 498) AS "clientErrors",
  count(*) FILTER (WHERE usage.status >= 500) AS "serverErrors",
  sum(usage.prompt_tokens)::bigint AS "promptTokens",
  sum(usage.completion_tokens)::bigint AS "completionTokens",
  sum(usage.cached_tokens)::bigint AS "cachedTokens",
  sum(usage.cache_write_tokens)::bigint AS "cacheWriteTokens",
  sum(usage.reasoning_tokens)::bigint AS "reasoningTokens",
  count(*) FILTER (WHERE usage.cost IS NULL AND ${hasTokens}) AS unpriced,
  count(*) FILTER (WHERE usage.cost IS NOT NULL AND ${hasTokens}) AS priced,
  coalesce(sum(usage.cost), 0)::text AS cost,
  ${percentile(0.5, 'latency_ms')} AS "latency50", ${percentile(0.95, 'latency_ms')} AS "latency95",
  ${percentile(0.5, 'first_token_ms')} AS "first50", ${percentile(0.95, 'first_token_ms')} AS "first95"`

/** The percentile of successful requests by the nearest rank, of times that are rounded down to two digits. */
function percentile(fraction: number, column: string): string {
  const time = `usage.${column}`
  const rounded = `CASE WHEN ${time} < 100 THEN ${time} WHEN ${time} < 1000 THEN ${time} / 10 * 10
    WHEN ${time} < 10000 THEN ${time} / 100 * 100 WHEN ${time} < 100000 THEN ${time} / 1000 * 1000
    ELSE ${time} / 10000 * 10000 END`
  return `percentile_disc(${fraction}) WITHIN GROUP (ORDER BY ${rounded}) FILTER (WHERE ${time} IS NOT NULL AND NOT ${failed})`
}

type Totals = UsageBucketGroup['totals']

type BucketRow = Omit<Totals, 'cost' | 'latency' | 'firstToken'> & {
  readonly start: number
  readonly priced: number
  readonly cost: string
  readonly latency50: number | null
  readonly latency95: number | null
  readonly first50: number | null
  readonly first95: number | null
  /** The value of the dimension with this place in `groupBy`. */
  readonly [value: `value${number}`]: string | null
}

function toBucketGroup(row: BucketRow, groupBy: readonly UsageDimension[]): UsageBucketGroup {
  const totals: Totals = {
    requests: row.requests,
    failed: row.failed,
    clientErrors: row.clientErrors,
    serverErrors: row.serverErrors,
    promptTokens: row.promptTokens,
    completionTokens: row.completionTokens,
    cachedTokens: row.cachedTokens,
    cacheWriteTokens: row.cacheWriteTokens,
    reasoningTokens: row.reasoningTokens,
    unpriced: row.unpriced,
    // As in the report of the command line: unknown only if no cost is known.
    cost: row.unpriced > 0 && row.priced === 0 ? null : BigInt(row.cost),
    latency: toTiming(row.latency50, row.latency95),
    firstToken: toTiming(row.first50, row.first95),
  }
  const values = Object.fromEntries(
    groupBy.map((dimension, index) => [dimension, row[`value${index}`] ?? null]),
  )
  return { start: row.start, values, totals }
}

function toTiming(p50: number | null, p95: number | null): Timing | null {
  return p50 === null || p95 === null ? null : { p50, p95 }
}
