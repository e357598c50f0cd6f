/** A provider, as `GET /admin/providers` returns it. */
export type Provider = {
  readonly id: string
  readonly kind: string
  /** Null for the built-in provider. */
  readonly base_url: string | null
  readonly has_key: boolean
  readonly discovers_models: boolean
  readonly health: 'ok' | 'failing' | 'unknown'
  readonly discovered_models: readonly string[]
  readonly routes: readonly ProviderRoute[]
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

export type LastError = {
  readonly at: string
  readonly status: number
  readonly code: string
  readonly request: string
}

/** What the routes of a provider have in sum. */
export type ProviderSummary = {
  readonly requests: number
  readonly failures: number
  readonly enabled: number
  /** Routes that requests avoid, at least those of some organizations. */
  readonly open: number
  readonly lastError: LastError | null
}

/** Sums the routes of a provider up. */
export function summaryOf({ routes }: Provider): ProviderSummary {
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
