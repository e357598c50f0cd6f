import type { Configuration } from '../../gateway/configuration.ts'
import type { ModelRoute } from '../../gateway/models/model.ts'
import type { CircuitBreaker } from '../../gateway/routing/circuit-breaker.ts'
import type { RouteHealth, RouteHealthRecorder } from '../../observability/route-health.ts'
import type { Provider } from '../../providers/provider.ts'

/** What the list of providers depends on. */
export type ProviderListDependencies = {
  readonly configuration: Pick<Configuration, 'providers' | 'models'>
  readonly breaker: Pick<CircuitBreaker, 'stateOf'>
  readonly routeHealth: Pick<RouteHealthRecorder, 'of'>
}

/** Lists the configured providers, and the engines that were found on this machine, with the health of their routes. */
export function listProviders({ configuration, breaker, routeHealth }: ProviderListDependencies) {
  const { all } = configuration.models.current()
  const served = all.flatMap((model) => model.routes.map((route) => ({ model, route })))
  const providers = new Map(configuration.providers.configured)
  for (const { route } of served) providers.set(route.provider.name, route.provider)
  const data = [...providers.values()].map((provider) => {
    const own = served.filter(({ route }) => route.provider.name === provider.name)
    const described = own.map(({ model, route }) => ({
      model: model.slug,
      enabled: model.disabled === undefined,
      ...renderRoute(route, breaker, routeHealth.of(provider.name, route.model)),
    }))
    return {
      object: 'provider',
      ...renderProvider(provider),
      health: healthOf(described.map(({ last_error, last_success_at }) => [last_error?.at, last_success_at])),
      discovered_models: own.filter(({ model }) => model.discovered === true).map(({ route }) => route.model),
      routes: described,
    }
  })
  return { object: 'list', data }
}

/** The address has neither a key nor a password: the settings do not allow them in it. */
function renderProvider({ name, kind, baseUrl, key, credentials, discover }: Provider) {
  return {
    id: name,
    kind: kind.name,
    base_url: 'protocol' in kind ? baseUrl : null,
    has_key: key !== undefined || credentials !== undefined,
    discovers_models: discover,
  }
}

function renderRoute(
  route: ModelRoute,
  breaker: ProviderListDependencies['breaker'],
  health: RouteHealth | undefined,
) {
  const lastError = health?.lastError
  return {
    upstream_model: route.model,
    circuit: breaker.stateOf(route),
    requests: health?.requests ?? 0,
    failures: health?.failures ?? 0,
    last_success_at: dateOrNull(health?.lastSuccessAt),
    last_error: lastError ? { ...lastError, at: new Date(lastError.at).toISOString() } : null,
  }
}

type LastTimes = readonly [error: string | undefined, success: string | null]

/** Failing if the last request to any route of the provider failed; unknown before the first one. */
function healthOf(times: readonly LastTimes[]): 'ok' | 'failing' | 'unknown' {
  const error = times.map(([error = '']) => error).reduce(latest, '')
  const success = times.map(([, success]) => success ?? '').reduce(latest, '')
  if (error === '' && success === '') return 'unknown'
  return error > success ? 'failing' : 'ok'
}

/** Dates in ISO 8601 sort as text. */
function latest(one: string, other: string): string {
  return one > other ? one : other
}

function dateOrNull(time: number | null | undefined): string | null {
  return time == null ? null : new Date(time).toISOString()
}
