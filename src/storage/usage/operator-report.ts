import { noOrganizationNamed } from '../common/account-rules.ts'
import type { Keys, Organizations } from '../ports/accounts.ts'
import type {
  BucketWidth,
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

/** The sources of a report of the command line. */
export type OperatorReportSources = {
  readonly usage: UsageBuckets
  readonly organizations: Pick<Organizations, 'find' | 'list'>
  readonly keys: Pick<Keys, 'list'>
}

type Grouping = { readonly by: readonly UsageDimension[]; readonly width?: BucketWidth }

const groupings: Readonly<Record<UsageGrouping, Grouping>> = {
  model: { by: ['model'] },
  provider: { by: ['provider'] },
  org: { by: ['organization'] },
  key: { by: ['key'] },
  tag: { by: ['tag'] },
  error: { by: ['error'] },
  day: { by: [], width: '1d' },
}

/** Reports the usage of a time range; rejects with an error for the operator if the organization does not exist. */
export async function operatorReport(
  query: UsageQuery,
  { usage, organizations, keys }: OperatorReportSources,
): Promise<UsageReport> {
  const { organization, by, since, until } = query
  const { by: groupBy, width } = groupings[by]
  const ids = organization === undefined ? undefined : [await idOf(organization, organizations)]
  const range = { organizations: ids, from: since, to: until }
  const { groups: found, total } = await usage.readWithTotal({ ...range, groupBy, width })
  const named = { org: organizations.list, key: keys.list }
  const names = by === 'org' || by === 'key' ? await named[by]() : []
  const groups = found.map(toGroup(by, new Map(names.map(({ id, name }) => [id, name]))))
  return { groups: sorted(groups, query), total: toSums(by === 'tag' ? await totalOf(range, usage) : total) }
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

function toGroup(by: UsageGrouping, names: ReadonlyMap<string, string>) {
  return ({ start, values, totals }: UsageBucketGroup): UsageGroup => {
    const sums = toSums(totals)
    if (by === 'day') return { value: new Date(start).toISOString().slice(0, 10), name: null, ...sums }
    const [value = null] = Object.values(values)
    const name = value === null ? null : (names.get(value) ?? null)
    return by === 'org' ? { value: name, name: null, ...sums } : { value, name, ...sums }
  }
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
  if (query.by === 'day') return withEmptyDays(groups, query)
  return groups.toSorted(query.by === 'error' ? byRequests : byCost)
}

/** The most expensive first, and unknown costs last; of those, the most requests. */
function byCost(one: UsageGroup, other: UsageGroup): number {
  const [cost, otherCost] = [one.cost ?? -1n, other.cost ?? -1n]
  if (cost !== otherCost) return cost > otherCost ? -1 : 1
  return byRequests(one, other)
}

function byRequests(one: UsageGroup, other: UsageGroup): number {
  return other.requests - one.requests || ((one.value ?? '') < (other.value ?? '') ? -1 : 1)
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
  const byDay = new Map(groups.map((group) => [group.value, group]))
  const last = dayOf(until - 1)
  const firstRequest = dayOf(Date.parse(groups[0]?.value ?? '') || last)
  const first = last - dayOf(since) <= maxLeadingDays * day ? dayOf(since) : firstRequest
  if (last - first > maxDays * day) return groups
  const days = Array.from({ length: (last - first) / day + 1 }, (_, index) => first + index * day)
  return days.map((time) => {
    const value = new Date(time).toISOString().slice(0, 10)
    return byDay.get(value) ?? { value, name: null, ...noSums }
  })
}

function dayOf(time: number): number {
  return Math.floor(time / day) * day
}
