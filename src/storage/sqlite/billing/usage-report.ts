import { and, eq, gte, lt, sql, type SQL } from 'drizzle-orm'
import { type GroupRow, type SumsRow, toReport } from '../../common/usage-sums.ts'
import type { UsageGrouping, UsageQuery, UsageReport } from '../../ports/usage-report.ts'
import type { Database } from '../connection/database.ts'
import { accountNamed } from '../organizations/organizations.ts'
import { read } from '../sqlite-errors.ts'
import { api_keys, organizations, usage } from '../tables.ts'
import { readTimings } from './usage-timings.ts'

/** Reports the usage of a time range; rejects with an error for the operator if the organization does not exist. */
export function usageReport(database: Database, query: UsageQuery): Promise<UsageReport> {
  const { sqlite } = database
  // One transaction, so that the total matches the groups while requests finish.
  return read(() => sqlite.transaction(() => reportNow(database, query)).deferred())
}

function reportNow(database: Database, query: UsageQuery): UsageReport {
  const { from, value, name, order } = groupings[query.by]
  const condition = conditionOf(database, query)
  const rows = database.query.all<GroupRow>(
    sql`select ${value} as value, ${name ?? sql`null`} as name, ${sums} from ${from ?? usage} where ${condition}
      group by 1 order by ${order ?? sql`sum(${usage.cost}) desc, count(*) desc, 1`}`,
  )
  const timings = readTimings(database, { from, value, condition, failed })
  const [total] = database.query.all<SumsRow>(sql`select ${sums} from ${usage} where ${condition}`)
  return toReport(query, { rows, total, timings })
}

function conditionOf(database: Database, { organization, since, until }: UsageQuery): SQL | undefined {
  const owner = organization === undefined ? undefined : accountNamed(database, organization).id
  return and(
    owner === undefined ? undefined : eq(usage.organization_id, owner),
    gte(usage.created_at, since),
    until === undefined ? undefined : lt(usage.created_at, until),
  )
}

const failed = sql`(${usage.error} is not null or ${usage.status} not between 200 and 299)`

type Grouping = { readonly value: SQL; readonly name?: SQL; readonly from?: SQL; readonly order?: SQL }

const groupings: Readonly<Record<UsageGrouping, Grouping>> = {
  model: { value: sql`${usage.model}` },
  provider: { value: sql`${usage.provider}` },
  org: {
    value: sql`(select ${organizations.name} from ${organizations} where ${organizations.id} = ${usage.organization_id})`,
  },
  key: {
    value: sql`${usage.key_id}`,
    name: sql`(select ${api_keys.name} from ${api_keys} where ${api_keys.public_id} = ${usage.key_id})`,
  },
  tag: {
    value: sql`tag.value`,
    // A tag that a request repeats counts once.
    from: sql`${usage} left join json_each(${usage.tags}) tag on not exists (
      select 1 from json_each(${usage.tags}) earlier where earlier.value = tag.value and earlier.key < tag.key)`,
  },
  error: {
    value: sql`case when ${failed} then coalesce(${usage.error}, 'status_' || ${usage.status}) end`,
    order: sql`count(*) desc, 1`,
  },
  day: { value: sql`strftime('%Y-%m-%d', ${usage.created_at} / 1000, 'unixepoch')`, order: sql`1` },
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
