import { noOrganizationNamed } from '../common/account-rules.ts'
import type { Keys, Organizations, Projects } from '../ports/accounts.ts'
import type {
  UsageBucketGroup,
  UsageBucketQuery,
  UsageBuckets,
  UsageDimension,
  UsageGroup,
  UsageGrouping,
  UsageQuery,
  UsageReport,
  UsageSums,
  UsageTotals,
} from '../ports/usage.ts'
import { valuesIn } from '../ports/usage.ts'

/** The sources of a report of the command line. */
type OperatorReportSources = {
  readonly usage: UsageBuckets
  readonly organizations: Pick<Organizations, 'find' | 'list'>
  readonly projects: Pick<Projects, 'names'>
  readonly keys: Pick<Keys, 'names'>
}

const dimensions: Readonly<Record<Exclude<UsageGrouping, 'day'>, UsageDimension>> = {
  model: 'model',
  provider: 'provider',
  org: 'organization',
  project: 'project',
  key: 'key',
  user: 'user',
  session: 'session',
  tag: 'tag',
  error: 'error',
}

/** Reports the usage of a time range; rejects with an error for the operator if the organization does not exist. */
export async function operatorReport(
  query: UsageQuery,
  { usage, organizations, projects, keys }: OperatorReportSources,
): Promise<UsageReport> {
  const { organization, by, since, until, filters } = query
  const groupBy = by.flatMap((grouping) => (grouping === 'day' ? [] : [dimensions[grouping]]))
  const width = by.includes('day') ? ('1d' as const) : undefined
  const ids = organization === undefined ? undefined : [await idOf(organization, organizations)]
  const range = { ...filters, organizations: ids, from: since, to: until }
  const { groups: found, total } = await usage.readWithTotal({ ...range, groupBy, width })
  const names: Names = {
    org: by.includes('org') ? namesOf(await organizations.list()) : new Map(),
    project: await projects.names(valuesIn(found, 'project')),
    key: await keys.names(valuesIn(found, 'key')),
  }
  const groups = found.map((group) => toGroup(by, group, names))
  const countsOnce = !by.includes('tag')
  return { groups: sorted(groups, query), total: toSums(countsOnce ? total : await totalOf(range, usage)) }
}

/** Names by id. */
type Names = Readonly<Record<'org' | 'project' | 'key', ReadonlyMap<string, string>>>

function namesOf(accounts: readonly { readonly id: string; readonly name: string }[]): Names['key'] {
  return new Map(accounts.map(({ id, name }) => [id, name]))
}

/** Counts each request once, also one with several tags. */
async function totalOf(range: Omit<UsageBucketQuery, 'groupBy'>, usage: UsageBuckets): Promise<UsageTotals> {
  return (await usage.readWithTotal({ ...range, groupBy: [] })).total
}

async function idOf(name: string, organizations: OperatorReportSources['organizations']): Promise<string> {
  const found = await organizations.find(name)
  // The name may be the id of another organization, which precedes.
  const named =
    found === undefined || found.name === name
      ? found
      : (await organizations.list()).find((account) => account.name === name)
  if (named === undefined) throw noOrganizationNamed(name)
  return named.id
}

function toGroup(by: readonly UsageGrouping[], group: UsageBucketGroup, names: Names): UsageGroup {
  const valueOf = (grouping: UsageGrouping): string | null => {
    if (grouping === 'day') return new Date(group.start).toISOString().slice(0, 10)
    const value = group.values[dimensions[grouping]] ?? null
    return grouping === 'org' && value !== null ? (names.org.get(value) ?? null) : value
  }
  const nameOf = (grouping: 'project' | 'key') => names[grouping].get(group.values[grouping] ?? '') ?? null
  const named = {
    ...(by.includes('project') && { project: nameOf('project') }),
    ...(by.includes('key') && { key: nameOf('key') }),
  }
  return { values: by.map(valueOf), names: named, ...toSums(group.totals) }
}

function toSums({ cacheWriteTokens: _cacheWriteTokens, ...sums }: UsageTotals): UsageSums {
  return sums
}

const noSums: UsageSums = {
  requests: 0,
  failed: 0,
  clientErrors: 0,
  serverErrors: 0,
  promptTokens: 0,
  completionTokens: 0,
  cachedTokens: 0,
  reasoningTokens: 0,
  unpriced: 0,
  cost: 0n,
  latency: null,
  firstToken: null,
}

/** Days are in their order, errors by their number of requests, others by cost. */
function sorted(groups: readonly UsageGroup[], query: UsageQuery): readonly UsageGroup[] {
  const { by } = query
  const position = by.indexOf('day')
  if (position >= 0 && by.length === 1) return withEmptyDays(groups, query)
  const dayText = ({ values }: UsageGroup) => values[position] ?? ''
  const within = by.includes('error') ? byRequests : byCost
  return groups.toSorted((one, other) => compare(dayText(one), dayText(other)) || within(one, other))
}

/** The most expensive first, and unknown costs last; of those, the most requests. */
function byCost(one: UsageGroup, other: UsageGroup): number {
  const [cost, otherCost] = [one.cost ?? -1n, other.cost ?? -1n]
  if (cost !== otherCost) return cost > otherCost ? -1 : 1
  return byRequests(one, other)
}

function byRequests(one: UsageGroup, other: UsageGroup): number {
  return other.requests - one.requests || compare(one.values.join('\n'), other.values.join('\n'))
}

function compare(one: string, other: string): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}

const day = 86_400_000
/** A longer range starts with its first request, so that the report has no years without requests. */
const maxLeadingDays = 400
/** A longer report lists only days with requests. */
const maxDays = 4000

/** Returns the groups of days in order, with an empty group for each day of the range without requests. */
function withEmptyDays(
  groups: readonly UsageGroup[],
  { since, until = Date.now() + 1 }: UsageQuery,
): readonly UsageGroup[] {
  const byDay = new Map(groups.map((group) => [group.values[0], group]))
  const last = dayOf(until - 1)
  const firstRequest = dayOf(Date.parse(groups[0]?.values[0] ?? '') || last)
  const first = last - dayOf(since) <= maxLeadingDays * day ? dayOf(since) : firstRequest
  if (last - first > maxDays * day) return groups
  const days = Array.from({ length: (last - first) / day + 1 }, (_, index) => first + index * day)
  return days.map((time) => {
    const value = new Date(time).toISOString().slice(0, 10)
    return byDay.get(value) ?? { values: [value], names: {}, ...noSums }
  })
}

function dayOf(time: number): number {
  return Math.floor(time / day) * day
}
