import { parseUsd } from '../../../lib/usd.ts'
import type { Organization } from '../../api/objects.ts'
import { Badge, None } from '../../components/facts.tsx'
import { exactUsd, formatCount } from '../../components/format.ts'
import { type Column, column, dayColumn, nameColumn } from '../../components/table-columns.tsx'
import { budgetColumns, modelsColumn } from './limits-view.tsx'
import type { RateLimit } from './limits.ts'

/** How the requests of an organization are paid. */
export type Billing = Organization['billing']

/** The path of an organization in the admin API. */
export function organizationPath(name: string): string {
  return `/admin/organizations/${encodeURIComponent(name)}`
}

/** The columns of the list of organizations. */
export const organizationColumns: readonly Column<Organization>[] = [
  nameColumn('name', 'Organization', ({ name }) => name),
  column('billing', 'Billing', (organization) => <OrganizationState of={organization} />, {
    sortValue: ({ billing }) => billing,
  }),
  usdColumn('balance', 'Balance', ({ balance_usd }) => balance_usd),
  usdColumn('reserved', 'Reserved', ({ reserved_usd }) => reserved_usd),
  ...budgetColumns<Organization>(),
  rateColumn('requests_per_minute', 'Requests/min'),
  rateColumn('tokens_per_minute', 'Tokens/min'),
  rateColumn('concurrent_requests', 'At once'),
  modelsColumn(),
  dayColumn('created', 'Created', ({ created_at }) => created_at),
]

function usdColumn(id: string, header: string, usdOf: (row: Organization) => string): Column<Organization> {
  const sortValue = (row: Organization) => parseUsd(usdOf(row)) ?? null
  return column(id, header, (row) => exactUsd(usdOf(row)), { align: 'right', sortValue })
}

function rateColumn(field: RateLimit, header: string): Column<Organization> {
  return column(
    field,
    header,
    ({ [field]: limit }) => (limit === null ? <None text="default" /> : formatCount(limit)),
    { align: 'right', minor: true, sortValue: (organization) => organization[field] },
  )
}

/** How an organization pays, and whether it is disabled: then, and with `none`, its requests to models are rejected. */
export function OrganizationState({ of: { billing, enabled } }: { readonly of: Organization }) {
  return (
    <span class="badges">
      <Badge tone={billing === 'none' ? 'bad' : 'neutral'}>{billing}</Badge>
      {!enabled && <Badge tone="bad">disabled</Badge>}
    </span>
  )
}
