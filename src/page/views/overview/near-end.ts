import { expirySoonMs, lowBalance, nearlyUsedPercent } from '../../../lib/near-end.ts'
import { formatUsd, parseUsd } from '../../../lib/usd.ts'
import type { ApiClient } from '../../api/client.ts'
import type { ApiKey, Budget, Organization, Project } from '../../api/objects.ts'
import { type ListPage, newestFirst } from '../../api/pages.ts'
import { nanosOf, usedOf } from '../../components/budget.ts'
import { routeHash } from '../../route.ts'

/** A key, a budget or a balance that ends soon, or has ended. */
export type NearEnd = {
  readonly kind: 'Organization' | 'Project' | 'API key'
  readonly name: string
  /** The place in the page where it can be changed. */
  readonly href: string
  readonly what: string
  /** True if requests are rejected already. */
  readonly ended: boolean
}

/** The fields of an organization by which its end is judged. */
type JudgedOrganization = Pick<Organization, 'name' | 'billing' | 'balance_usd' | 'reserved_usd' | 'budget'>

/** What an operator owns that is near its end. */
type Accounts = {
  readonly organizations: readonly JudgedOrganization[]
  readonly projects: readonly Project[]
  readonly keys: readonly ApiKey[]
}

/** Loads a page of each list, the newest first. */
export async function loadAccounts(
  client: ApiClient,
  signal: AbortSignal,
): Promise<Accounts & { readonly hasMore: boolean }> {
  const load = <Item>(path: string) =>
    client.get<ListPage<Item>>(path, { query: { ...newestFirst, near_end: 'true' }, signal })
  const pages = await Promise.all([
    load<Organization>('/admin/organizations'),
    load<Project>('/admin/projects'),
    load<ApiKey>('/admin/keys'),
  ])
  const [organizations, projects, keys] = pages
  return {
    organizations: organizations.data,
    projects: projects.data,
    keys: keys.data,
    hasMore: pages.some(({ has_more }) => has_more),
  }
}

/** Returns why these accounts are near their end at this time, in milliseconds since 1970; what has ended comes first. */
export function nearEnds({ organizations, projects, keys }: Accounts, now: number): readonly NearEnd[] {
  const found = [
    ...organizations.flatMap((organization) => {
      const href = routeHash('organizations', [organization.name])
      const subject = { kind: 'Organization', name: organization.name, href } as const
      return [...budgetEnd(subject, organization.budget), ...balanceEnd(subject, organization)]
    }),
    ...projects.flatMap(({ id, name, organization, budget }) =>
      budgetEnd(
        { kind: 'Project', name, href: routeHash('organizations', [organization, 'projects', id]) },
        budget,
      ),
    ),
    ...keys.flatMap((key) => keyEnds(key, now)),
  ]
  return found.toSorted((a, b) => Number(b.ended) - Number(a.ended))
}

type Subject = Pick<NearEnd, 'kind' | 'name' | 'href'>

function budgetEnd(subject: Subject, budget: Budget | null): readonly NearEnd[] {
  if (budget === null) return []
  const [used, limit] = [usedOf(budget), nanosOf(budget.limit_usd)]
  if (used * 100n < limit * nearlyUsedPercent) return []
  const ended = used >= limit
  const percent = limit === 0n ? 100n : (used * 100n) / limit
  return [
    { ...subject, what: ended ? 'The budget is exhausted' : `${percent} % of the budget is used`, ended },
  ]
}

function balanceEnd(subject: Subject, organization: JudgedOrganization): readonly NearEnd[] {
  if (organization.billing !== 'prepaid') return []
  const available = (parseUsd(organization.balance_usd) ?? 0n) - (parseUsd(organization.reserved_usd) ?? 0n)
  if (available > lowBalance) return []
  if (available <= 0n) return [{ ...subject, what: 'The balance is exhausted', ended: true }]
  return [{ ...subject, what: `$${formatUsd(available)} of the balance is left`, ended: false }]
}

function keyEnds(key: ApiKey, now: number): readonly NearEnd[] {
  const subject = { kind: 'API key', name: key.name, href: routeHash('keys', [key.id]) } as const
  const left = key.expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(key.expires_at) - now
  const expiry = left > expirySoonMs ? [] : [{ ...subject, what: expiryText(left), ended: false }]
  return [...budgetEnd(subject, key.budget), ...expiry]
}

const dayMs = 86_400_000

function expiryText(left: number): string {
  const days = Math.floor(left / dayMs)
  if (days < 1) return 'It expires within 24 hours'
  return `It expires in ${days} ${days === 1 ? 'day' : 'days'}`
}
