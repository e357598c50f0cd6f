import { parseUsd } from '../../../lib/usd.ts'
import type { ApiClient } from '../../api/client.ts'
import { loadAll } from '../../api/pages.ts'
import { Badge } from '../../components/facts.tsx'
import { formatCount } from '../../components/format.ts'
import { type Column, dayColumn, nameColumn } from '../../components/table-columns.tsx'

/** An organization, as `GET /admin/organizations` returns it. */
export type Organization = Limits & {
  readonly id: string
  readonly name: string
  readonly billing: Billing
  readonly balance_usd: string
  readonly reserved_usd: string
  readonly created_at: string
}

/** Null for the limit of the settings. */
type Limits = Readonly<Record<LimitField, number | null>>

/** How the requests of an organization are paid. */
export type Billing = 'unmetered' | 'prepaid' | 'none'

/** The limits of an organization, for people. */
export const limitLabels = {
  requests_per_minute: 'Requests per minute',
  tokens_per_minute: 'Tokens per minute',
  concurrent_requests: 'Requests at once',
} as const

/** A limit of an organization. */
export type LimitField = keyof typeof limitLabels

/** Every limit, in the order in which they are shown. */
export const limitFields = Object.keys(limitLabels) as readonly LimitField[]

/** The path of an organization in the admin API. */
export function organizationPath(name: string): string {
  return `/admin/organizations/${encodeURIComponent(name)}`
}

/** Loads all organizations. */
export function loadOrganizations(client: ApiClient, signal?: AbortSignal): Promise<readonly Organization[]> {
  return loadAll(client, '/admin/organizations', signal)
}

/** The columns of the list of organizations. */
export const organizationColumns: readonly Column<Organization>[] = [
  nameColumn('name', 'Organization', ({ name }) => name),
  {
    id: 'billing',
    header: 'Billing',
    render: ({ billing }) => <BillingBadge billing={billing} />,
    sortValue: ({ billing }) => billing,
  },
  usdColumn('balance', 'Balance', ({ balance_usd }) => balance_usd),
  usdColumn('reserved', 'Reserved', ({ reserved_usd }) => reserved_usd),
  limitColumn('requests_per_minute', 'Requests/min'),
  limitColumn('tokens_per_minute', 'Tokens/min'),
  limitColumn('concurrent_requests', 'At once'),
  dayColumn('created', 'Created', ({ created_at }) => created_at),
]

function usdColumn(id: string, header: string, usdOf: (row: Organization) => string): Column<Organization> {
  return {
    id,
    header,
    align: 'right',
    render: (row) => exactUsd(usdOf(row)),
    sortValue: (row) => parseUsd(usdOf(row)) ?? null,
  }
}

function limitColumn(field: LimitField, header: string): Column<Organization> {
  return {
    id: field,
    header,
    align: 'right',
    render: (organization) => limitLabel(organization[field]),
    sortValue: (organization) => organization[field],
  }
}

/** How an organization pays: with `none`, its requests to models are rejected. */
export function BillingBadge({ billing }: { readonly billing: Billing }) {
  return <Badge tone={billing === 'none' ? 'bad' : 'neutral'}>{billing}</Badge>
}

/** A limit, or that the default of the settings applies. */
export function limitLabel(limit: number | null) {
  return limit === null ? <span class="quiet">default</span> : formatCount(limit)
}

/** An exact amount with its sign and every decimal: `-$12.345678901`. */
export function exactUsd(usd: string): string {
  return usd.startsWith('-') ? `-$${usd.slice(1)}` : `$${usd}`
}
