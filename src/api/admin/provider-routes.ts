import { Elysia } from 'elysia'
import { Type } from 'typebox'
import type { Configuration } from '../../gateway/configuration.ts'
import type { ModelRoute } from '../../gateway/models/model.ts'
import { isListed } from '../../gateway/models/model-listing.ts'
import type { CircuitBreaker } from '../../gateway/routing/circuit-breaker.ts'
import { count, objectType, stringEnum, text, textOrNull } from '../../http/schema.ts'
import { badRequest } from '../../lib/errors/errors.ts'
import { adminObjectNotFound } from '../../lib/errors/http-errors.ts'
import type { RouteHealth, RouteHealthRecorder } from '../../observability/route-health.ts'
import type { ProviderQueue, ProviderQueues } from '../../gateway/routing/provider-queue.ts'
import type { Provider } from '../../providers/provider.ts'
import { type AdminGuard, describeAdmin } from './admin-guard.ts'
import { createProviderTests, explainCode, healthOf } from './provider-health.ts'

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
  last_success_at: textOrNull('When the last request succeeded, in ISO 8601.'),
  last_error: Type.Union(
    [
      Type.Object({
        at: text('When it failed, in ISO 8601.'),
        status: Type.Integer({ description: 'The status.' }),
        code: text('The error code.'),
        message: text('Why requests fail with this code.'),
        remedy: text('The remedy for the operator.'),
        request: text('The ID of the request.'),
      }),
      Type.Null(),
    ],
    { description: 'The last request that failed.' },
  ),
})

const Problem = Type.Object({
  source: stringEnum(['request', 'check'], {
    description: 'What failed: a request, or a check, which requests the list of models.',
  }),
  at: text('When it failed, in ISO 8601.'),
  message: text('What is wrong.'),
  remedy: text('The remedy for the operator.'),
  request: textOrNull('The ID of the request; null for a check.'),
})

const Slots = Type.Object({
  concurrency: Type.Integer({ description: 'Requests that may be in progress at once.' }),
  in_use: Type.Integer({ description: 'Requests in progress.' }),
  waiting: Type.Integer({ description: 'Requests that wait for a slot.' }),
})

const ProviderObject = Type.Object(
  {
    object: objectType('provider'),
    id: text('The name of the provider in the settings.'),
    kind: text('The kind of the provider.'),
    base_url: textOrNull('The base URL; null for the built-in provider.'),
    has_key: flag('Whether it has a key or credentials, which are never shown.'),
    discovers_models: flag('Whether the gateway lists its models, at the start and every minute.'),
    testable: flag('Whether it has a list of models, by which it can be tested without a cost.'),
    health: stringEnum(['ok', 'failing', 'unknown'], {
      description:
        'Failing if the last check or the last request failed and neither has succeeded since. Unknown before the first of both.',
    }),
    slots: Type.Union([Slots, Type.Null()], {
      description: 'Its slots in this process; null if any number of requests may be in progress.',
    }),
    problem: Type.Union([Problem, Type.Null()], { description: 'Why it is failing; null if it is not.' }),
    last_check_at: textOrNull(
      'When its list of models was requested last, in ISO 8601; null if it never was.',
    ),
    discovered_models: Type.Array(Type.String(), { description: 'The models that only its list has.' }),
    routes: Type.Array(RouteObject, { description: 'The routes of models to the provider.' }),
  },
  { title: 'Provider' },
)

const ProviderList = Type.Object(
  {
    object: objectType('list'),
    data: Type.Array(ProviderObject, { description: 'The providers.' }),
  },
  { title: 'ProviderList' },
)

const listDetail = describeAdmin({
  id: 'listProviders',
  summary: 'List providers',
  description:
    'Lists the configured providers with their models, their health, the state of their circuits and their last errors.',
  reply: ProviderList,
})

const testDetail = describeAdmin({
  id: 'testProvider',
  summary: 'Test a provider',
  description:
    'Requests the list of models of a provider, which costs nothing, and returns the provider with the result. Within two seconds, further tests return the same result.',
  path: { provider: 'The name of the provider.' },
  reply: ProviderObject,
  errors: [400],
})

/** The list of providers, and the test of one. */
export function providerAdminRoutes(guard: AdminGuard, parts: ProviderListDependencies) {
  const { models } = parts.configuration
  const test = createProviderTests(models.test, parts.clock)
  return new Elysia({ name: 'admin-providers' })
    .use(guard)
    .get('/admin/providers', () => ({ object: 'list', data: listProviders(parts) }), { detail: listDetail })
    .post(
      '/admin/providers/:provider/test',
      async ({ params }) => {
        await test(testableProvider(parts, params.provider))
        return listProviders(parts).find(({ id }) => id === params.provider)
      },
      { detail: testDetail },
    )
}

/** Throws the 404 if there is no such provider, and the 400 if it has no list of models. */
function testableProvider(parts: ProviderListDependencies, name: string): Provider {
  const provider = allProviders(parts).get(name)
  if (provider === undefined) throw adminObjectNotFound(`There is no provider '${name.slice(0, 100)}'.`)
  if (isTestable(provider)) return provider
  const message = `The provider ${name} has no list of models, so that only a request to a model would test it.`
  throw badRequest(message, null, null)
}

function isTestable(provider: Provider): boolean {
  return 'protocol' in provider.kind && isListed(provider, provider.kind)
}

/** The dependencies of the list of providers. */
export type ProviderListDependencies = {
  readonly configuration: Pick<Configuration, 'providers' | 'models'>
  readonly breaker: Pick<CircuitBreaker, 'stateOf'>
  readonly queues: Pick<ProviderQueues, 'of'>
  readonly routeHealth: Pick<RouteHealthRecorder, 'of'>
  /** The monotonic clock, in milliseconds. */
  readonly clock: (() => number) | undefined
}

/** The configured providers, and the engines that were found on this machine, by name. */
function allProviders({ configuration }: ProviderListDependencies): ReadonlyMap<string, Provider> {
  const found = configuration.models.current().all.flatMap(({ routes }) => routes)
  return new Map([
    ...found.map(({ provider }) => [provider.name, provider] as const),
    ...configuration.providers.configured,
  ])
}

/** Lists the providers with their health and that of their routes. */
function listProviders(parts: ProviderListDependencies) {
  const { breaker, queues, routeHealth, configuration } = parts
  const { models } = configuration
  const served = models.current().all.flatMap((model) => model.routes.map((route) => ({ model, route })))
  const byProvider = Map.groupBy(served, ({ route }) => route.provider.name)
  return [...allProviders(parts).values()].map((provider) => {
    const own = (byProvider.get(provider.name) ?? []).map(({ model, route }) => {
      return { model, route, health: routeHealth.of(provider.name, route.model) }
    })
    const check = models.checks.of(provider.name)
    return {
      object: 'provider',
      ...renderProvider(provider),
      slots: renderSlots(queues.of(provider)),
      ...healthOf(
        own.flatMap(({ health = [] }) => health),
        check,
      ),
      last_check_at: dateOrNull(check?.at),
      discovered_models: own.filter(({ model }) => model.discovered === true).map(({ route }) => route.model),
      routes: own.map(({ model, route, health }) => ({
        model: model.slug,
        enabled: model.disabled === undefined,
        ...renderRoute(route, breaker, health),
      })),
    }
  })
}

/** The address has neither a key nor a password: the settings do not allow them in it. */
function renderProvider(provider: Provider) {
  const { name, kind, baseUrl, key, credentials, discover } = provider
  return {
    id: name,
    kind: kind.name,
    base_url: 'protocol' in kind ? baseUrl : null,
    has_key: key !== undefined || credentials !== undefined,
    discovers_models: discover,
    testable: isTestable(provider),
  }
}

function renderSlots(queue: ProviderQueue | undefined) {
  if (queue === undefined) return null
  const { concurrency, inUse, waiting } = queue
  return { concurrency, in_use: inUse, waiting }
}

function renderRoute(
  route: ModelRoute,
  breaker: ProviderListDependencies['breaker'],
  health: RouteHealth | undefined,
) {
  const lastError = health?.lastError ?? null
  return {
    upstream_model: route.model,
    circuit: breaker.stateOf(route),
    requests: health?.requests ?? 0,
    failures: health?.failures ?? 0,
    last_success_at: dateOrNull(health?.lastSuccessAt),
    last_error: lastError && {
      ...lastError,
      ...explainCode(lastError.code),
      at: new Date(lastError.at).toISOString(),
    },
  }
}

function dateOrNull(time: number | null | undefined): string | null {
  return time == null ? null : new Date(time).toISOString()
}
