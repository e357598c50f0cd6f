import { Elysia } from 'elysia'
import { Type } from 'typebox'
import { describe } from '../../http/describe.ts'
import { stringEnum } from '../../http/schema.ts'
import type { AdminGuard } from './admin-guard.ts'
import { listProviders, type ProviderListDependencies } from './providers.ts'
import { adminErrors } from './errors.ts'

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
