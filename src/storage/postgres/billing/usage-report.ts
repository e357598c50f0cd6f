import { type GroupRow, type SumsRow, toReport } from '../../common/usage-sums.ts'
import type { UsageGrouping, UsageQuery, UsageReport } from '../../ports/usage-report.ts'
import type { Query } from '../connection/connections.ts'
import type { Database } from '../connection/database.ts'
import { noOrganizationNamed } from '../../common/organization-rules.ts'
import { Parameters } from '../writer/statement.ts'
import { readTimings, reportTimeoutMs } from './usage-timings.ts'

/** Reports the usage of a time range; rejects with an error for the operator if the organization does not exist. */
export function usageReport({ transact }: Database, request: UsageQuery): Promise<UsageReport> {
  return transact(async (query) => {
    // One snapshot, so that the total matches the groups while requests finish.
    await query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ')
    return await report(query, request)
  })
}

async function report(query: Query, request: UsageQuery): Promise<UsageReport> {
  const { from = 'usage', value, name = 'NULL', order } = groupings[request.by]
  const { condition, values } = await conditionOf(query, request)
  const rows = await query<GroupRow>(
    `SELECT ${value} AS value, ${name} AS name, ${sums} FROM ${from} WHERE ${condition}
    GROUP BY 1, 2 ORDER BY ${order ?? 'sum(cost) DESC NULLS LAST, count(*) DESC, 1 NULLS FIRST'}`,
    values,
    reportTimeoutMs,
  )
  const [total] = await query<SumsRow>(
    `SELECT ${sums} FROM usage WHERE ${condition}`,
    values,
    reportTimeoutMs,
  )
  const timings = await readTimings(query, { from, value, condition, values, failed })
  return toReport(request, { rows, total, timings })
}

async function conditionOf(query: Query, { organization, since, until }: UsageQuery) {
  const parameters = new Parameters()
  const conditions = [`usage.created_at >= ${parameters.add(since)}`]
  if (until !== undefined) conditions.push(`usage.created_at < ${parameters.add(until)}`)
  if (organization !== undefined)
    conditions.push(`usage.organization_id = ${parameters.add(await organizationId(query, organization))}`)
  return { condition: conditions.join(' AND '), values: parameters.values }
}

async function organizationId(query: Query, name: string): Promise<string> {
  const [row] = await query<{ readonly id: string }>(
    'SELECT id FROM organizations WHERE name = $1 AND deletion IS NULL',
    [name],
  )
  if (row === undefined) throw noOrganizationNamed(name)
  return row.id
}

const failed = '(error IS NOT NULL OR status NOT BETWEEN 200 AND 299)'

type Grouping = {
  readonly value: string
  readonly name?: string
  readonly from?: string
  readonly order?: string
}

const groupings: Readonly<Record<UsageGrouping, Grouping>> = {
  model: { value: 'usage.model' },
  provider: { value: 'usage.provider' },
  org: {
    value: 'o.name',
    from: 'usage LEFT JOIN organizations o ON o.id = usage.organization_id',
  },
  key: {
    value: 'usage.key_id',
    name: 'k.name',
    from: 'usage LEFT JOIN api_keys k ON k.public_id = usage.key_id',
  },
  tag: {
    value: 'tag.value',
    // A tag that a request repeats counts once.
    from: `usage LEFT JOIN LATERAL (
      SELECT DISTINCT value FROM json_array_elements_text(usage.tags::json)) tag ON true`,
  },
  error: {
    value: `CASE WHEN ${failed} THEN coalesce(error, 'status_' || status) END`,
    order: 'count(*) DESC, 1 NULLS FIRST',
  },
  day: {
    value: "to_char(to_timestamp(usage.created_at / 1000) AT TIME ZONE 'UTC', 'YYYY-MM-DD')",
    order: '1',
  },
}

const hasTokens = 'prompt_tokens + completion_tokens > 0'

/** The cost is text, because the sum of many costs may exceed the exact range of a number. */
const sums = `count(*) AS requests,
  count(*) FILTER (WHERE ${failed}) AS failed,
  count(*) FILTER (WHERE status BETWEEN 400 AND 498) AS "clientErrors",
  count(*) FILTER (WHERE status >= 500) AS "serverErrors",
  coalesce(sum(prompt_tokens), 0)::bigint AS "promptTokens",
  coalesce(sum(completion_tokens), 0)::bigint AS "completionTokens",
  coalesce(sum(cached_tokens), 0)::bigint AS "cachedTokens",
  coalesce(sum(reasoning_tokens), 0)::bigint AS "reasoningTokens",
  count(*) FILTER (WHERE cost IS NULL AND ${hasTokens}) AS unpriced,
  count(*) FILTER (WHERE cost IS NOT NULL AND ${hasTokens}) AS priced,
  coalesce(sum(cost), 0)::text AS cost`
