import { OperatorReport } from '../../common/operator-report.ts'
import type { UsageSlice } from '../../common/usage-slice.ts'
import { type GroupRow, type SumsRow, toReport } from '../../common/usage-sums.ts'
import type { UsageGrouping, UsageQuery, UsageReport } from '../../ports/usage-report.ts'
import type { Query } from '../connection/connections.ts'
import type { Database } from '../connection/database.ts'
import { noOrganizationNamed } from '../../common/organization-rules.ts'
import { addArrays, slicesStatement } from '../usage/slices.ts'
import { ownerExistsSql, tagsJoinSql } from '../usage/totals.ts'
import { Parameters } from '../writer/statement.ts'
import { readTimings, reportTimeoutMs } from './usage-timings.ts'

/** Reports the usage of a time range; rejects with an error for the operator if the organization does not exist. */
export async function usageReport(database: Database, request: UsageQuery): Promise<UsageReport> {
  const report = OperatorReport.of(request, addArrays)
  return report ? await readTotals(database, request, report) : await readRows(database, request)
}

async function readTotals(
  { query, readPages }: Database,
  { organization, by }: UsageQuery,
  report: OperatorReport,
): Promise<UsageReport> {
  const organizations = organization === undefined ? undefined : [await organizationId(query, organization)]
  const statement = slicesStatement({ ...report, organizations })
  await readPages<UsageSlice>(statement, reportTimeoutMs, tookTooLong, async (slices) => report.add(slices))
  const names = namesOf[by]
  const named = names === undefined ? [] : await query<{ readonly id: string; readonly name: string }>(names)
  return report.report(new Map(named.map(({ id, name }) => [id, name])))
}

const namesOf: Readonly<Partial<Record<UsageGrouping, string>>> = {
  org: 'SELECT id, name FROM organizations',
  key: 'SELECT public_id id, name FROM api_keys',
}

function tookTooLong(): Error {
  return new Error('The usage report took too long. Request a shorter period.')
}

function readRows({ transact }: Database, request: UsageQuery): Promise<UsageReport> {
  return transact(async (query) => {
    // One snapshot, so that the total matches the groups while requests finish.
    await query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ')
    return await report(query, request)
  })
}

async function report(query: Query, request: UsageQuery): Promise<UsageReport> {
  const { from = 'usage', value, order } = request.by === 'tag' ? byTag : byError
  const { condition, values } = await conditionOf(query, request)
  const rows = await query<GroupRow>(
    `SELECT ${value} AS value, ${sums} FROM ${from} WHERE ${condition}
    GROUP BY 1 ORDER BY ${order}`,
    values,
    reportTimeoutMs,
  )
  const [total] = await query<SumsRow>(
    `SELECT ${sums} FROM usage WHERE ${condition}`,
    values,
    reportTimeoutMs,
  )
  const timings = await readTimings(query, { from, value, condition, values, failed })
  return toReport({ rows, total, timings })
}

async function conditionOf(query: Query, { organization, since, until }: UsageQuery) {
  const parameters = new Parameters()
  const conditions = [ownerExistsSql, `usage.created_at >= ${parameters.add(since)}`]
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

type Grouping = { readonly value: string; readonly from?: string; readonly order: string }

const byTag: Grouping = {
  value: 'tag.value',
  from: `usage ${tagsJoinSql}`,
  order: 'sum(cost) DESC NULLS LAST, count(*) DESC, 1 NULLS FIRST',
}

const byError: Grouping = {
  value: `CASE WHEN ${failed} THEN coalesce(error, 'status_' || status) END`,
  order: 'count(*) DESC, 1 NULLS FIRST',
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
