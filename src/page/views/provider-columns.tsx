import type { Provider } from '../api/objects.ts'
import { loadList } from '../api/pages.ts'
import { type Resource, useRefreshed } from '../api/resource.ts'
import { Badge, Foreign, ForeignLink, None, Time, type Tone } from '../components/facts.tsx'
import { formatCount } from '../components/format.ts'
import { type Column, column, countColumn, nameColumn } from '../components/table-columns.tsx'
import { routeHash } from '../route.ts'
import { useAdminApi } from '../session.tsx'

/** The route of a model to a provider. The numbers count from the start of the gateway. */
export type ProviderRoute = Provider['routes'][number]

type LastError = ProviderRoute['last_error']

/** The providers as an operator sees them: loaded once, or again and again at an interval. */
export function useProviders(intervalMs?: number): Resource<readonly Provider[]> {
  const admin = useAdminApi()
  const load = (signal: AbortSignal) => loadList<Provider>(admin, '/admin/providers', signal)
  return useRefreshed(load, [admin], intervalMs)
}

/** Sums the routes of a provider up. Requests avoid an open one, at least those of some organizations. */
export function summaryOf({ routes }: Provider) {
  const sum = (count: (route: ProviderRoute) => number) =>
    routes.reduce((total, route) => total + count(route), 0)
  return {
    requests: sum(({ requests }) => requests),
    failures: sum(({ failures }) => failures),
    enabled: sum(({ enabled }) => Number(enabled)),
    open: sum(({ circuit }) => Number(circuit !== 'closed')),
    lastError: routes.map(({ last_error }) => last_error).reduce(later, null),
  }
}

/** Dates in ISO 8601 sort as text. */
function later(one: LastError, other: LastError): LastError {
  return (other?.at ?? '') > (one?.at ?? '') ? other : one
}

/** The columns of the list of providers. */
export const providerColumns: readonly Column<Provider>[] = [
  nameColumn('name', 'Provider', ({ id }) => id),
  column('health', 'State', ({ health }) => <HealthBadge health={health} />, {
    sortValue: ({ health }) => health,
  }),
  nameColumn('kind', 'Kind', ({ kind }) => kind),
  column(
    'models',
    'Enabled models',
    (provider) => `${formatCount(summaryOf(provider).enabled)} of ${provider.routes.length}`,
    { align: 'right', sortValue: (provider) => summaryOf(provider).enabled },
  ),
  column('open', 'Open circuits', (provider) => <OpenCount open={summaryOf(provider).open} />, {
    align: 'right',
    sortValue: (provider) => summaryOf(provider).open,
  }),
  countColumn('requests', 'Requests', (provider) => summaryOf(provider).requests),
  countColumn('failures', 'Failures', (provider) => summaryOf(provider).failures),
  errorColumn((provider) => summaryOf(provider).lastError),
]

/** The columns of the routes of a provider. */
export const routeColumns: readonly Column<ProviderRoute>[] = [
  column('model', 'Model', ({ model }) => <ForeignLink text={model} href={routeHash('models', [model])} />, {
    sortValue: ({ model }) => model,
  }),
  nameColumn('upstream', 'Name at the provider', ({ upstream_model }) => upstream_model),
  column(
    'enabled',
    'Enabled',
    ({ enabled }) => (enabled ? <Badge tone="good">yes</Badge> : <Badge>no</Badge>),
    { sortValue: ({ enabled }) => Number(enabled) },
  ),
  column(
    'circuit',
    'Circuit',
    ({ circuit }) => <Badge tone={circuits[circuit][0]}>{circuits[circuit][1]}</Badge>,
    { sortValue: ({ circuit }) => circuit },
  ),
  countColumn('requests', 'Requests', ({ requests }) => requests),
  countColumn('failures', 'Failures', ({ failures }) => failures),
  column('success', 'Last success', ({ last_success_at: at }) => <LastTime at={at} />, {
    sortValue: ({ last_success_at }) => last_success_at,
  }),
  errorColumn(({ last_error }) => last_error),
]

const circuits = {
  closed: ['good', 'closed'],
  partly_open: ['warning', 'open for some'],
  open: ['bad', 'open'],
} as const satisfies Readonly<Record<ProviderRoute['circuit'], readonly [Tone, string]>>

function OpenCount({ open }: { readonly open: number }) {
  return open === 0 ? <None text="0" /> : <Badge tone="bad">{formatCount(open)}</Badge>
}

function errorColumn<Row>(errorOf: (row: Row) => LastError): Column<Row> {
  return column('error', 'Last error', (row) => <ErrorText error={errorOf(row)} />, {
    sortValue: (row) => errorOf(row)?.at ?? null,
  })
}

/** When something happened last, if it did. */
export function LastTime({ at }: { readonly at: string | null }) {
  return at === null ? <None /> : <Time at={at} />
}

const healths = {
  ok: ['good', 'ok'],
  failing: ['bad', 'failing'],
  unknown: ['neutral', 'not used yet'],
} as const satisfies Readonly<Record<Provider['health'], readonly [Tone, string]>>

/** Whether a provider responds. */
export function HealthBadge({ health }: { readonly health: Provider['health'] }) {
  const [tone, label] = healths[health]
  return <Badge tone={tone}>{label}</Badge>
}

/** The last error: status, code and time. */
export function ErrorText({ error }: { readonly error: LastError }) {
  if (error === null) return <None />
  return (
    <span title={`${error.message} Request ${error.request}`}>
      {error.status} <Foreign text={error.code} />{' '}
      <span class="quiet">
        <Time at={error.at} />
      </span>
    </span>
  )
}
