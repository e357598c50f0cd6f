import { Elysia } from 'elysia'
import { Type } from 'typebox'
import type { Configuration } from '../../gateway/configuration.ts'
import type { ModelRoute } from '../../gateway/models/model.ts'
import type { CircuitBreaker } from '../../gateway/routing/circuit-breaker.ts'
import { ProviderObject } from '../../http/objects/provider.ts'
import { objectType } from '../../http/schema.ts'
import { badRequest } from '../../lib/errors/errors.ts'
import { adminObjectNotFound } from '../../lib/errors/http-errors.ts'
import { isoTimeOrNull } from '../../lib/time.ts'
import type { RouteHealth, RouteHealthRecorder } from '../../observability/route-health.ts'
import type { ProviderQueue, ProviderQueues } from '../../gateway/routing/provider-queue.ts'
import { isListed } from '../../providers/model-listing.ts'
import type { Provider } from '../../providers/provider.ts'
import { type AdminGuard, describeAdmin } from './admin-guard.ts'
import { createProviderTests, explainCode, healthOf } from './provider-health.ts'

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
  if (isListed(provider)) return provider
  const message = `The provider ${name} has no list of models, so that only a request to a model would test it.`
  throw badRequest(message, null, null)
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
      last_check_at: isoTimeOrNull(check?.at),
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
    testable: isListed(provider),
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
    last_success_at: isoTimeOrNull(health?.lastSuccessAt),
    last_error: lastError && {
      ...lastError,
      ...explainCode(lastError.code),
      at: new Date(lastError.at).toISOString(),
    },
  }
}
