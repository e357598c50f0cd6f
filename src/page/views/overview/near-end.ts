import { formatUsd, parseUsd } from '../../../lib/usd.ts'
import { type Budget, nanosOf, usedOf } from '../../components/budget.ts'
import { routeHash } from '../../route.ts'
import type { ApiKey } from '../organizations/key.ts'
import type { Project } from '../organizations/project.ts'

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
export type Organization = {
  readonly id: string
  readonly name: string
  readonly billing: string
  readonly balance_usd: string
  readonly reserved_usd: string
  readonly budget: Budget | null
}

/** What an operator owns that may end. */
export type Accounts = {
  readonly organizations: readonly Organization[]
  readonly projects: readonly Project[]
  readonly keys: readonly ApiKey[]
}

/** A budget of which this much is used is near its end, in percent. */
const nearlyUsed = 80n
/** A balance that lasts for this many days at the mean of the last week is low. */
const lastingDays = 3n
/** Likewise one of at most a dollar, in nano-dollars. */
const lowBalance = 1_000_000_000n
const dayMs = 86_400_000
const weekMs = 7 * dayMs

/**
 * Returns the budgets from 80 % used, the low balances of prepaid organizations, and the keys that expire within a week;
 * what has ended comes first. `spend` has the nano-dollars that each organization spent in the last seven days, by its ID.
 */
export function nearEnds(
  { organizations, projects, keys }: Accounts,
  spend: ReadonlyMap<string, bigint>,
  now: number,
): readonly NearEnd[] {
  const found = [
    ...organizations.flatMap((organization) => {
      const href = routeHash('organizations', [organization.name])
      const subject = { kind: 'Organization', name: organization.name, href } as const
      return [
        ...budgetEnd(subject, organization.budget),
        ...balanceEnd(subject, organization, spend.get(organization.id) ?? 0n),
      ]
    }),
    ...projects.flatMap(({ id, name, organization, budget }) =>
      organization === null
        ? []
        : budgetEnd(
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
  if (used * 100n < limit * nearlyUsed) return []
  const ended = used >= limit
  const percent = limit === 0n ? 100n : (used * 100n) / limit
  return [
    { ...subject, what: ended ? 'The budget is exhausted' : `${percent} % of the budget is used`, ended },
  ]
}

function balanceEnd(subject: Subject, organization: Organization, spent: bigint): readonly NearEnd[] {
  if (organization.billing !== 'prepaid') return []
  const available = (parseUsd(organization.balance_usd) ?? 0n) - (parseUsd(organization.reserved_usd) ?? 0n)
  if (available > lowBalance && available * 7n > spent * lastingDays) return []
  if (available <= 0n) return [{ ...subject, what: 'The balance is exhausted', ended: true }]
  return [{ ...subject, what: `$${formatUsd(available)} of the balance is left`, ended: false }]
}

/** A key that has ended for good needs no attention. */
function keyEnds(key: ApiKey, now: number): readonly NearEnd[] {
  const left = key.expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(key.expires_at) - now
  if (key.revoked_at !== null || left <= 0) return []
  const subject = { kind: 'API key', name: key.name, href: routeHash('keys', [key.id]) } as const
  const expiry = left > weekMs ? [] : [{ ...subject, what: expiryText(left), ended: false }]
  return [...budgetEnd(subject, key.budget), ...expiry]
}

function expiryText(left: number): string {
  const days = Math.floor(left / dayMs)
  if (days === 0) return 'It expires within 24 hours'
  return `It expires in ${days} ${days === 1 ? 'day' : 'days'}`
}
