import { parseUsd } from '../../../lib/usd.ts'
import { Badge } from '../../components/badge.tsx'
import { formatCount } from '../../components/format.ts'
import type { Column } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { visibleText } from '../../markdown/visible-text.ts'
import { exactUsd, type Organization } from './organization.ts'
import type { LimitField } from './organization-form.ts'

/** The columns of the list of organizations. */
export const organizationColumns: readonly Column<Organization>[] = [
  {
    id: 'name',
    header: 'Organization',
    render: ({ name }) => <bdi>{visibleText(name)}</bdi>,
    sortValue: ({ name }) => name,
  },
  {
    id: 'billing',
    header: 'Billing',
    render: ({ billing }) => <Badge tone={billing === 'none' ? 'bad' : 'neutral'}>{billing}</Badge>,
    sortValue: ({ billing }) => billing,
  },
  {
    id: 'balance',
    header: 'Balance',
    align: 'right',
    render: ({ balance_usd }) => exactUsd(balance_usd),
    sortValue: ({ balance_usd }) => parseUsd(balance_usd) ?? null,
  },
  {
    id: 'reserved',
    header: 'Reserved',
    align: 'right',
    render: ({ reserved_usd }) => exactUsd(reserved_usd),
    sortValue: ({ reserved_usd }) => parseUsd(reserved_usd) ?? null,
  },
  limitColumn('requests_per_minute', 'Requests/min'),
  limitColumn('tokens_per_minute', 'Tokens/min'),
  limitColumn('concurrent_requests', 'At once'),
  {
    id: 'created',
    header: 'Created',
    render: ({ created_at }) => <Time at={created_at} format="day" />,
    sortValue: ({ created_at }) => created_at,
  },
]

function limitColumn(field: LimitField, header: string): Column<Organization> {
  return {
    id: field,
    header,
    align: 'right',
    render: (organization) => limitLabel(organization[field]),
    sortValue: (organization) => organization[field],
  }
}

/** A limit, or that the default of the settings applies. */
export function limitLabel(limit: number | null) {
  return limit === null ? <span class="quiet">default</span> : formatCount(limit)
}
