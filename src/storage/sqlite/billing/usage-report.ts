import { and, eq, gte, lt, type SQL, sql } from 'drizzle-orm'
import type { Nanos } from '../../../lib/usd.ts'
import type { Database } from '../connection/database.ts'
import { accountNamed } from '../organizations/organizations.ts'
import { readTimings, type Timings } from './usage-timings.ts'
import { withEmptyDays } from './usage-days.ts'
import { read } from '../sqlite-errors.ts'
import { api_keys, organizations, usage } from '../tables.ts'

/** By what requests are counted; a day is one of UTC. */
export const usageGroupings = ['model', 'provider', 'org', 'key', 'tag', 'day', 'error'] as const
export type UsageGrouping = (typeof usageGroupings)[number]

/** Which requests, and by what they are counted. */
export type UsageQuestion = {
  /** The name of an organization; absent: of all. */
  readonly organization?: string
  readonly by: UsageGrouping
  /** Milliseconds since 1970. */
  readonly since: number
  /** Not part of it; absent: up to now. */
  readonly until?: number
}

/** What requests took together. */
export type UsageSums = Timings & {
  readonly requests: number
  /** Those that got an error, or a stream that broke. */
  readonly failed: number
  /** Of those, the ones with a status from 400 to 498: faults of the request. */
  readonly clientErrors: number
  /** Of those, the ones with a status from 500: faults of a provider or of the gateway. */
  readonly serverErrors: number
  readonly promptTokens: number
  readonly completionTokens: number
  readonly cachedTokens: number
  readonly reasoningTokens: number
  /** The sum of what is known; null where there are tokens and none of them have a known cost. */
  readonly cost: Nanos | null
  /** How many requests have tokens without a known cost, because their model has no price. */
  readonly unpriced: number
}

export type UsageGroup = UsageSums & {
  /** The model, the id of the key, the name of the organization, …; null for requests that have none. */
  readonly value: string | null
  /** The name of a key. */
  readonly name: string | null
}

export type UsageReport = {
  /** By day in order, with the days that have no requests, else the most expensive first. A request with several tags is part of several groups. */
  readonly groups: readonly UsageGroup[]
  /** Each request once. */
  readonly total: UsageSums
}

/** What the requests of a time took; rejects with a sentence where there is no such organization. */
export function usageReport(database: Database, question: UsageQuestion): Promise<UsageReport> {
  const { sqlite } = database
  // One transaction, so that the total is that of the groups while requests end.
  return read(() => sqlite.transaction(() => reportNow(database, question)).deferred())
}

function reportNow(database: Database, question: UsageQuestion): UsageReport {
  const { from, value, name, order } = groupings[question.by]
  const asked = conditionOf(database, question)
  const rows = database.query.all<GroupRow>(
    sql`select ${value} as value, ${name ?? sql`null`} as name, ${sums} from ${from ?? usage} where ${asked}
      group by 1 order by ${order ?? sql`sum(${usage.cost}) desc, count(*) desc, 1`}`,
  )
  const timings = readTimings(database, { from, value, asked, failed })
  const groups = rows.map((row) => ({
    value: row.value,
    name: row.name,
    ...toSums(row),
    ...timings.of(row.value),
  }))
  const [total = nothing] = database.query.all<SumsRow>(sql`select ${sums} from ${usage} where ${asked}`)
  return {
    groups:
      question.by === 'day' ? withEmptyDays(groups, question, { ...toSums(nothing), ...untimed }) : groups,
    total: { ...toSums(total), ...timings.total },
  }
}

const untimed: Timings = { latency: null, firstToken: null }

function conditionOf(database: Database, { organization, since, until }: UsageQuestion): SQL | undefined {
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
    // A tag that a request names twice is one.
    from: sql`${usage} left join json_each(${usage.tags}) tag on not exists (
      select 1 from json_each(${usage.tags}) earlier where earlier.value = tag.value and earlier.key < tag.key)`,
  },
  error: {
    value: sql`case when ${failed} then coalesce(${usage.error}, 'status_' || ${usage.status}) end`,
    order: sql`count(*) desc, 1`,
  },
  day: { value: sql`strftime('%Y-%m-%d', ${usage.created_at} / 1000, 'unixepoch')`, order: sql`1` },
}

type SumsRow = Omit<UsageSums, 'cost' | keyof Timings> & {
  readonly cost: string
  readonly priced: number
}
type GroupRow = SumsRow & { readonly value: string | null; readonly name: string | null }

const hasTokens = sql`${usage.prompt_tokens} + ${usage.completion_tokens} > 0`

/** The cost as text: together, the costs of many requests may be more than a number says exactly. */
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

const nothing: SumsRow = {
  requests: 0,
  failed: 0,
  clientErrors: 0,
  serverErrors: 0,
  promptTokens: 0,
  completionTokens: 0,
  cachedTokens: 0,
  reasoningTokens: 0,
  unpriced: 0,
  priced: 0,
  cost: '0',
}

function toSums({ priced, cost, ...counts }: SumsRow): Omit<UsageSums, keyof Timings> {
  return { ...counts, cost: counts.unpriced > 0 && priced === 0 ? null : BigInt(cost) }
}
