import { Badge, Foreign, Time, type Tone } from '../components/facts.tsx'
import { formatCount } from '../components/format.ts'
import { type Column, countColumn, nameColumn } from '../components/table-columns.tsx'
import { routeHash } from '../route.ts'

/** A provider, as `GET /admin/providers` returns it. */
export type Provider = {
  readonly id: string
  readonly kind: string
  /** Null for the built-in provider. */
  readonly base_url: string | null
  readonly has_key: boolean
  readonly discovers_models: boolean
  /** Whether it has a list of models, by which it can be tested. */
  readonly testable: boolean
  readonly health: 'ok' | 'failing' | 'unknown'
  /** Its slots; null if any number of requests may be in progress. */
  readonly slots: { readonly concurrency: number; readonly in_use: number; readonly waiting: number } | null
  /** Why it fails; null if it does not. */
  readonly problem: Problem | null
  readonly last_check_at: string | null
  readonly discovered_models: readonly string[]
  readonly routes: readonly ProviderRoute[]
}

type Problem = {
  readonly source: 'request' | 'check'
  readonly at: string
  readonly message: string
  readonly remedy: string
  /** The ID of the failed request. */
  readonly request: string | null
}

/** The route of a model to a provider. The numbers count from the start of the gateway. */
export type ProviderRoute = {
  readonly model: string
  readonly enabled: boolean
  readonly upstream_model: string
  readonly circuit: 'closed' | 'partly_open' | 'open'
  readonly requests: number
  readonly failures: number
  readonly last_success_at: string | null
  readonly last_error: LastError | null
}

type LastError = {
  readonly at: string
  readonly status: number
  readonly code: string
  readonly message: string
  readonly remedy: string
  readonly request: string
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
function later(one: LastError | null, other: LastError | null): LastError | null {
  return (other?.at ?? '') > (one?.at ?? '') ? other : one
}

/** The columns of the list of providers. */
export const providerColumns: readonly Column<Provider>[] = [
  nameColumn('name', 'Provider', ({ id }) => id),
  {
    id: 'health',
    header: 'State',
    render: ({ health }) => <HealthBadge health={health} />,
    sortValue: ({ health }) => health,
  },
  nameColumn('kind', 'Kind', ({ kind }) => kind),
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
  errorColumn((provider) => summaryOf(provider).lastError),
]

/** The columns of the routes of a provider. */
export const routeColumns: readonly Column<ProviderRoute>[] = [
  {
    id: 'model',
    header: 'Model',
    render: ({ model }) => (
      <a href={routeHash('models', [model])}>
        <Foreign text={model} />
      </a>
    ),
    sortValue: ({ model }) => model,
  },
  nameColumn('upstream', 'Name at the provider', ({ upstream_model }) => upstream_model),
  {
    id: 'enabled',
    header: 'Enabled',
    render: ({ enabled }) => (enabled ? <Badge tone="good">yes</Badge> : <Badge>no</Badge>),
    sortValue: ({ enabled }) => Number(enabled),
  },
  {
    id: 'circuit',
    header: 'Circuit',
    render: ({ circuit }) => <Badge tone={circuits[circuit][0]}>{circuits[circuit][1]}</Badge>,
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
  errorColumn(({ last_error }) => last_error),
]

const circuits = {
  closed: ['good', 'closed'],
  partly_open: ['warning', 'open for some'],
  open: ['bad', 'open'],
} as const satisfies Readonly<Record<ProviderRoute['circuit'], readonly [Tone, string]>>

function OpenCount({ open }: { readonly open: number }) {
  return open === 0 ? <span class="quiet">0</span> : <Badge tone="bad">{formatCount(open)}</Badge>
}

function errorColumn<Row>(errorOf: (row: Row) => LastError | null): Column<Row> {
  return {
    id: 'error',
    header: 'Last error',
    render: (row) => <ErrorText error={errorOf(row)} />,
    sortValue: (row) => errorOf(row)?.at ?? null,
  }
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
export function ErrorText({ error }: { readonly error: LastError | null }) {
  if (error === null) return <span class="quiet">none</span>
  return (
    <span title={`${error.message} Request ${error.request}`}>
      {error.status} <Foreign text={error.code} />{' '}
      <span class="quiet">
        <Time at={error.at} />
      </span>
    </span>
  )
}
