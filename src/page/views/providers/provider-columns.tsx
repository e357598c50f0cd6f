import { Badge } from '../../components/badge.tsx'
import { formatCount } from '../../components/format.ts'
import type { Column } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { visibleText } from '../../markdown/visible-text.ts'
import { routeHash } from '../../routing/route.ts'
import { type Provider, type ProviderRoute, summaryOf } from './provider.ts'
import { CircuitBadge, ErrorText, HealthBadge } from './provider-badges.tsx'

/** The columns of the list of providers. */
export const providerColumns: readonly Column<Provider>[] = [
  { id: 'name', header: 'Provider', render: ({ id }) => <Name text={id} />, sortValue: ({ id }) => id },
  {
    id: 'health',
    header: 'Last request',
    render: ({ health }) => <HealthBadge health={health} />,
    sortValue: ({ health }) => health,
  },
  { id: 'kind', header: 'Kind', render: ({ kind }) => kind, sortValue: ({ kind }) => kind },
  {
    id: 'models',
    header: 'Enabled models',
    align: 'right',
    render: (provider) => `${formatCount(summaryOf(provider).enabled)} of ${provider.routes.length}`,
    sortValue: (provider) => summaryOf(provider).enabled,
  },
  {
    id: 'open',
    header: 'Open circuits',
    align: 'right',
    render: (provider) => <OpenCount open={summaryOf(provider).open} />,
    sortValue: (provider) => summaryOf(provider).open,
  },
  countColumn('requests', 'Requests', (provider) => summaryOf(provider).requests),
  countColumn('failures', 'Failures', (provider) => summaryOf(provider).failures),
  {
    id: 'error',
    header: 'Last error',
    render: (provider) => <ErrorText error={summaryOf(provider).lastError} />,
    sortValue: (provider) => summaryOf(provider).lastError?.at ?? null,
  },
]

/** The columns of the routes of a provider. */
export const routeColumns: readonly Column<ProviderRoute>[] = [
  {
    id: 'model',
    header: 'Model',
    render: ({ model }) => (
      <a href={routeHash('models', [model])}>
        <Name text={model} />
      </a>
    ),
    sortValue: ({ model }) => model,
  },
  {
    id: 'upstream',
    header: 'Name at the provider',
    render: ({ upstream_model }) => <Name text={upstream_model} />,
    sortValue: ({ upstream_model }) => upstream_model,
  },
  {
    id: 'enabled',
    header: 'Enabled',
    render: ({ enabled }) => (enabled ? <Badge tone="good">yes</Badge> : <Badge>no</Badge>),
    sortValue: ({ enabled }) => Number(enabled),
  },
  {
    id: 'circuit',
    header: 'Circuit',
    render: ({ circuit }) => <CircuitBadge circuit={circuit} />,
    sortValue: ({ circuit }) => circuit,
  },
  countColumn('requests', 'Requests', ({ requests }) => requests),
  countColumn('failures', 'Failures', ({ failures }) => failures),
  {
    id: 'success',
    header: 'Last success',
    render: ({ last_success_at: at }) => (at === null ? <span class="quiet">none</span> : <Time at={at} />),
    sortValue: ({ last_success_at }) => last_success_at,
  },
  {
    id: 'error',
    header: 'Last error',
    render: ({ last_error }) => <ErrorText error={last_error} />,
    sortValue: ({ last_error }) => last_error?.at ?? null,
  },
]

/** Names of models and providers are foreign text. */
function Name({ text }: { readonly text: string }) {
  return <bdi>{visibleText(text)}</bdi>
}

function OpenCount({ open }: { readonly open: number }) {
  return open === 0 ? <span class="quiet">0</span> : <Badge tone="bad">{formatCount(open)}</Badge>
}

function countColumn<Row>(id: string, header: string, count: (row: Row) => number): Column<Row> {
  return { id, header, align: 'right', render: (row) => formatCount(count(row)), sortValue: count }
}
