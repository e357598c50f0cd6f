import { and, eq, gte, lt, sql, type SQL } from 'drizzle-orm'
import { OperatorReport } from '../../common/operator-report.ts'
import { type GroupRow, type SumsRow, toReport } from '../../common/usage-sums.ts'
import type { UsageGrouping, UsageQuery, UsageReport } from '../../ports/usage-report.ts'
import type { Database } from '../connection/database.ts'
import { organizationExistsSql } from '../organization-exists.ts'
import { accountNamed } from '../../scripts/organizations.ts'
import { read } from '../sqlite-errors.ts'
import { api_keys, organizations } from '../../schema/organizations.ts'
import { usage } from '../../schema/usage.ts'
import { addTimes } from '../usage/histogram.ts'
import { prepareReadUsage } from '../usage/read-usage.ts'
import { readTimings } from './usage-timings.ts'

/** Reports the usage of a time range; rejects with an error for the operator if the organization does not exist. */
export function usageReport(database: Database, query: UsageQuery): Promise<UsageReport> {
  const { sqlite } = database
  // One transaction, so that the total matches the groups while requests finish.
  return read(() => sqlite.transaction(() => reportNow(database, query)).deferred())
}

function reportNow(database: Database, query: UsageQuery): UsageReport {
  const organization =
    query.organization === undefined ? undefined : database.run(accountNamed(query.organization)).id
  const report = OperatorReport.of(query, addTimes)
  if (report === undefined) return readRows(database, query, organization)
  const { ranges, widthMs, by } = report
  const organizations = organization === undefined ? undefined : [organization]
  const batches = prepareReadUsage(database)({ organizations, ranges, widthMs, by: new Set(by) })
  for (const slices of batches) report.add(slices)
  return report.report(namesOf(database, query.by))
}

/** The names of organizations or keys, by their ids. */
function namesOf({ query }: Database, by: UsageGrouping): ReadonlyMap<string, string> {
  if (by === 'org')
    return new Map(
      query
        .select({ id: organizations.id, name: organizations.name })
        .from(organizations)
        .all()
        .map(({ id, name }) => [id, name]),
    )
  if (by !== 'key') return new Map()
  const keys = query.select({ id: api_keys.public_id, name: api_keys.name }).from(api_keys).all()
  return new Map(keys.map(({ id, name }) => [id, name]))
}

function readRows(database: Database, query: UsageQuery, organization: string | undefined): UsageReport {
  const { from, value, order } = query.by === 'tag' ? byTag : byError
  const condition = conditionOf(query, organization)
  const rows = database.query.all<GroupRow>(
    sql`select ${value} as value, ${sums} from ${from ?? usage} where ${condition} group by 1 order by ${order}`,
  )
  const timings = readTimings(database, { from, value, condition, failed })
  const [total] = database.query.all<SumsRow>(sql`select ${sums} from ${usage} where ${condition}`)
  return toReport({ rows, total, timings })
}

function conditionOf({ since, until }: UsageQuery, organization: string | undefined): SQL | undefined {
  return and(
    organization === undefined ? ownerExists : eq(usage.organization_id, organization),
    gte(usage.created_at, since),
    until === undefined ? undefined : lt(usage.created_at, until),
  )
}

const ownerExists = sql`exists (select 1 from ${organizations}
  where ${organizations.id} = ${usage.organization_id} and ${sql.raw(organizationExistsSql)})`

const failed = sql`(${usage.error} is not null or ${usage.status} not between 200 and 299)`

type Grouping = { readonly value: SQL; readonly from?: SQL; readonly order: SQL }

const byTag: Grouping = {
  value: sql`tag.value`,
  // A tag that a request repeats counts once.
  from: sql`${usage} left join json_each(${usage.tags}) tag on not exists (
    select 1 from json_each(${usage.tags}) earlier where earlier.value = tag.value and earlier.key < tag.key)`,
  order: sql`sum(${usage.cost}) desc, count(*) desc, 1`,
}

const byError: Grouping = {
  value: sql`case when ${failed} then coalesce(${usage.error}, 'status_' || ${usage.status}) end`,
  order: sql`count(*) desc, 1`,
}

const hasTokens = sql`${usage.prompt_tokens} + ${usage.completion_tokens} > 0`

/** The cost is text, because the sum of many costs may exceed the exact range of a number. */
const sums = sql`count(*) as requests,
  coalesce(sum(${failed}), 0) as failed,
  coalesce(sum(${usage.status} between 400 and 498), 0) as clientErrors,
  coalesce(sum(${usage.status} >= 500), 0) as serverErrors,
  coalesce(sum(${usage.prompt_tokens}), 0) as promptTokens,
  coalesce(sum(${usage.completion_tokens}), 0) as completionTokens,
  coalesce(sum(${usage.cached_tokens}), 0) as cachedTokens,
  coalesce(sum(${usage.reasoning_tokens}), 0) as reasoningTokens,
  coalesce(sum(${usage.cost} is null and ${hasTokens}), 0) as unpriced,
  coalesce(sum(${usage.cost} is not null and ${hasTokens}), 0) as priced,
  cast(coalesce(sum(${usage.cost}), 0) as text) as cost`
