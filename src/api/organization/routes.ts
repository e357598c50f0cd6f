import { Elysia } from 'elysia'
import type { UserHash } from '../../gateway/access/user-hash.ts'
import type { RateLimits } from '../../gateway/rate-limits/rate-limits.ts'
import type { AdminAccess } from '../../http/admin-access.ts'
import { authenticateHeaders } from '../../http/authentication.ts'
import { describe, errorsOf, type GuardedDescription } from '../../http/describe.ts'
import { admission, setRateLimitHeaders } from '../../http/rate-limit-headers.ts'
import { jsonText } from '../../http/reply.ts'
import type { Keys, Projects } from '../../storage/ports/accounts.ts'
import type { KeyDirectory } from '../../storage/ports/known-keys.ts'
import {
  type UsageBucketGroup,
  type UsageBucketQuery,
  type UsageBuckets,
  valuesIn,
} from '../../storage/ports/usage.ts'
import { defineReportQuery, type ReportPage } from './query.ts'
import { CostsPage, type Names, renderCosts, renderPage, renderUsage, UsagePage } from './results.ts'

const usageLimits = {
  '1m': { default: 60, max: 1440 },
  '1h': { default: 24, max: 168 },
  '1d': { default: 7, max: 31 },
}
const usageQuery = defineReportQuery(usageLimits)
const costsQuery = defineReportQuery({ ...usageLimits, '1d': { default: 7, max: 180 } })

function describeReport(description: GuardedDescription) {
  const access =
    'An API key reads the usage of its organization; an admin key reads that of all organizations.'
  return describe({
    ...description,
    tag: 'Organization',
    description: `${description.description} ${access}`,
    errors: errorsOf(description),
  })
}

const usageDetail = describeReport({
  id: 'getUsage',
  summary: 'Get the usage by period',
  description: 'Reports requests, tokens, errors and latencies by minute, hour or day.',
  query: usageQuery.parameters,
  reply: UsagePage,
})

const costsDetail = describeReport({
  id: 'getCosts',
  summary: 'Get the costs by period',
  description: 'Reports the cost of requests by minute, hour or day.',
  query: costsQuery.parameters,
  reply: CostsPage,
})

type ReportDependencies = {
  readonly buckets: UsageBuckets
  readonly projects: Pick<Projects, 'names'>
  readonly keys: Pick<Keys, 'names'>
  readonly userHash: UserHash | undefined
}

/** The reports of usage and costs. Filters may name users as they are, or by the hashes that are recorded. */
export function organizationRoutes(
  guard: UsageGuard,
  { buckets, projects, keys, userHash }: ReportDependencies,
) {
  async function read({ batchOnly }: ReportPage, query: UsageBucketQuery): Promise<NamedGroups> {
    if (batchOnly) return nothing
    const { users } = query
    const groups = await buckets.read(
      users && userHash ? { ...query, users: [...users, ...users.map(userHash)] } : query,
    )
    const names = {
      project: await projects.names(valuesIn(groups, 'project')),
      key: await keys.names(valuesIn(groups, 'key')),
    }
    return { groups, names }
  }
  return new Elysia({ name: 'organization' })
    .use(guard)
    .get(
      '/v1/organization/usage/completions',
      async ({ request, caller }) => {
        const page = usageQuery.read(request, caller?.organization.id)
        return reply(page, await read(page, { ...page.query, sums: 'usage' }), renderUsage)
      },
      { detail: usageDetail },
    )
    .get(
      '/v1/organization/costs',
      async ({ request, caller }) => {
        const page = costsQuery.read(request, caller?.organization.id)
        return reply(page, await read(page, { ...page.query, sums: 'costs' }), renderCosts)
      },
      { detail: costsDetail },
    )
}

type NamedGroups = { readonly groups: readonly UsageBucketGroup[]; readonly names: Names }

const nothing: NamedGroups = { groups: [], names: { project: new Map(), key: new Map() } }

/** A response with the text, because Elysia would not write an exact number as it is. */
async function reply<Result>(
  page: ReportPage,
  { groups, names }: NamedGroups,
  renderResult: (group: UsageBucketGroup, names: Names) => Result,
): Promise<Response> {
  return jsonText(await renderPage(page, groups, (group) => renderResult(group, names)))
}

/** The dependencies of the check in front of usage reports. */
type UsageGuardDependencies = {
  readonly keys: KeyDirectory
  readonly limits: RateLimits
  readonly adminAccess: AdminAccess
}

/** The check in front of usage reports: routes of a plugin that uses it have a `caller`, or none for the operator. */
type UsageGuard = ReturnType<typeof createUsageGuard>

/** Accepts the key of an organization, within its rate limits, or an admin key. */
export function createUsageGuard({ keys, limits, adminAccess }: UsageGuardDependencies) {
  const admit = admission(limits)
  return new Elysia({ name: 'usage-guard' })
    .derive(async function authenticate({ request: { headers } }) {
      const operator = await adminAccess.accepts(headers)
      return { caller: operator ? undefined : await authenticateHeaders(keys, headers) }
    })
    .derive(async function admitCaller({ caller, request, set }) {
      const admitted = caller && (await admit({ caller, request, set }))
      return { admission: admitted?.admission }
    })
    .mapResponse(setRateLimitHeaders)
    .as('scoped')
}
