import { Elysia } from 'elysia'
import { Type } from 'typebox'
import type { Configuration } from '../../gateway/configuration.ts'
import type { ModelRoute } from '../../gateway/models/model.ts'
import type { CircuitBreaker } from '../../gateway/routing/circuit-breaker.ts'
import { describe } from '../../http/describe.ts'
import { stringEnum } from '../../http/schema.ts'
import type { RouteHealth, RouteHealthRecorder } from '../../observability/route-health.ts'
import type { Provider } from '../../providers/provider.ts'
import { adminErrors, type AdminGuard } from './admin-guard.ts'

const text = (description: string) => Type.String({ description })
const orNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description })
const count = (description: string) => Type.Integer({ minimum: 0, description })
const flag = (description: string) => Type.Boolean({ description })

const RouteObject = Type.Object({
  model: text('The slug of the model.'),
  enabled: flag('Whether the model is enabled.'),
  upstream_model: text('The name of the model at the provider.'),
  circuit: stringEnum(['closed', 'partly_open', 'open'], {
    description: 'Whether requests avoid the route: those of no organization, of some, or of all.',
  }),
  requests: count('The requests to the route since the start of the gateway.'),
  failures: count('Those that failed.'),
  last_success_at: orNull('When the last request succeeded, in ISO 8601.'),
  last_error: Type.Union(
    [
      Type.Object({
        at: text('When it failed, in ISO 8601.'),
        status: Type.Integer({ description: 'The status.' }),
        code: text('The error code.'),
        request: text('The ID of the request.'),
      }),
      Type.Null(),
    ],
    { description: 'The last request that failed.' },
  ),
})

const ProviderList = Type.Object(
  {
    object: Type.Literal('list', { description: 'The type of the object.' }),
    data: Type.Array(
      Type.Object({
        object: Type.Literal('provider', { description: 'The type of the object.' }),
        id: text('The name of the provider in the settings.'),
        kind: text('The kind of the provider.'),
        base_url: orNull('The base URL; null for the built-in provider.'),
        has_key: flag('Whether it has a key or credentials, which are never shown.'),
        discovers_models: flag('Whether the gateway lists its models.'),
        health: stringEnum(['ok', 'failing', 'unknown'], {
          description: 'Whether the last request succeeded. Unknown before the first one.',
        }),
        discovered_models: Type.Array(Type.String(), { description: 'The models that only its list has.' }),
        routes: Type.Array(RouteObject, { description: 'The routes of models to the provider.' }),
      }),
      { description: 'The providers.' },
    ),
  },
  { title: 'ProviderList' },
)

const detail = describe({
  tag: 'Admin',
  id: 'listProviders',
  summary: 'List providers',
  description:
    'Lists the configured providers with their models, the state of their circuits and their last errors.',
  reply: ProviderList,
  errors: adminErrors,
})

/** The list of providers. */
export function providerAdminRoutes(guard: AdminGuard, parts: ProviderListDependencies) {
  return new Elysia({ name: 'admin-providers' })
    .use(guard)
    .get('/admin/providers', () => listProviders(parts), { detail })
}

/** The dependencies of the list of providers. */
export type ProviderListDependencies = {
  readonly configuration: Pick<Configuration, 'providers' | 'models'>
  readonly breaker: Pick<CircuitBreaker, 'stateOf'>
  readonly routeHealth: Pick<RouteHealthRecorder, 'of'>
}

/** Lists the configured providers, and the engines that were found on this machine, with the health of their routes. */
function listProviders({ configuration, breaker, routeHealth }: ProviderListDependencies) {
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
