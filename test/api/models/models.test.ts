import { afterAll, describe, expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { Compile } from 'typebox/compile'
import type { ModelDetails } from '../../../src/config/model-details.ts'
import { catalog as builtIn } from '../../../src/config/catalog.ts'
import { toSettings } from '../../../src/config/defaults.ts'
import { createLocalLimits } from '../../support/local-limits.ts'
import { errorHandler } from '../../../src/http/errors.ts'
import { KeyWatch } from '../../../src/http/authentication.ts'
import { createGuard } from '../../../src/http/guard.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { modelRoutes } from '../../../src/api/models/routes.ts'
import { ModelList, type ModelObject } from '../../../src/http/objects/model.ts'
import { kinds } from '../../../src/providers/kinds/kinds.ts'
import { openDatabase } from '../../../src/storage/sqlite/connection/database.ts'
import { CachedKeys } from '../../../src/storage/key-directory.ts'
import { createKey } from '../../../src/storage/scripts/keys.ts'
import { findKnownKey } from '../../../src/storage/scripts/known-keys.ts'
import { createOrganization } from '../../../src/storage/scripts/organization-changes.ts'
import { modelsWith, provider, providersOf } from '../../unit/gateway/support/model-fixtures.ts'
import { testActor } from '../../support/actor.ts'

type Models = ReturnType<typeof modelsWith>

/** What a reply may hold; the tests look at what it does hold. */
type Body = { readonly data: readonly ModelObject[]; readonly error: unknown }

const database = openDatabase(':memory:')
afterAll(() => database.close())
database.run(createOrganization('default', { actor: testActor, now: 0 }))
const { key } = database.run(
  createKey({ organization: 'default', name: 'test', expiresAt: null }, { actor: testActor, now: 0 }),
)

/** Asks for a path of these models, with a good key unless another header is given. */
function ask(models: () => Models) {
  const { limits } = toSettings({}, null)
  const keys = new CachedKeys((id) => database.run(findKnownKey(id)))
  const keyWatch = new KeyWatch(keys)
  const parts = { keys, keyWatch, limits: createLocalLimits(() => limits), maxBody: 1000 }
  const app = new Elysia().use(errorHandler(silentLog)).use(modelRoutes(createGuard(parts), models))
  return async (path: string, authorization = `Bearer ${key.reveal()}`) => {
    const headers = { authorization }
    const response = await app.handle(new Request(`http://localhost${path}`, { headers }))
    const body = (await response.json()) as Body
    return { status: response.status, type: response.headers.get('content-type'), body }
  }
}

const routes = [{ provider: 'alpha', model: 'x' }]
const pricing = { input: 3 }
const everything: ModelDetails[] = [
  {
    slug: 'acme/slow',
    routes,
    reasoning: { supported_efforts: ['none', 'low'], default_effort: 'low' },
    fast: { strategy: 'model_variant', target_slug: 'acme/fast', pricing, supported_parameters: ['stop'] },
  },
  { slug: 'acme/fast', routes, variant_of: 'acme/slow' },
  { slug: 'acme/tier', routes, fast: { strategy: 'service_tier', service_tier: 'priority', pricing } },
]

describe('GET /v1/models', () => {
  test('lists the enabled models and no other', async () => {
    const { status, type, body } = await ask(() => modelsWith())('/v1/models')
    expect(status).toBe(200)
    expect(type).toContain('application/json')
    expect<unknown>(body).toEqual({
      object: 'list',
      data: [
        {
          id: 'alpha/one',
          object: 'model',
          created: 1767312000,
          shutdown_date: null,
          owned_by: 'alpha',
          slug: 'alpha/one',
          display_name: 'One',
          provider: 'alpha',
          routes: [{ provider: 'alpha', weight: null }],
          author: 'alpha',
          released: '2026-01-02',
          context_window: 1000,
          context_length: 1000,
          max_model_len: 1000,
          max_output_tokens: null,
          pricing: { input: 1, output: 2, cache_read: 0.1, cache_write: null, request: null, image: null },
          input_modalities: ['text'],
          output_modalities: ['text'],
          supported_parameters: ['temperature'],
          supported_apis: ['chat_completions', 'responses', 'messages', 'completions'],
          reasoning: null,
          performance: null,
        },
      ],
    })
  })

  test('lets Codex keep its own instructions, and lists the models as for others', async () => {
    const request = ask(() => modelsWith())
    const { body } = await request('/v1/models')
    const codex = await request('/v1/models?client_version=0.171.0')
    expect<unknown>(codex).toMatchObject({ status: 200, body: { ...body, models: [] } })
    expect(body).not.toHaveProperty('models')
  })

  test('lists the routes with their weights, and no release date where it is unknown', async () => {
    const shared = [
      { provider: 'alpha', model: 'x', weight: 3 },
      { provider: 'gamma', model: 'secret-deployment' },
      { provider: 'beta', model: 'x' },
    ]
    const providers = providersOf(provider('alpha'), provider('gamma'))
    const models = modelsWith([{ slug: 'acme/shared', routes: shared }], { providers })
    const { body } = await ask(() => models)('/v1/models')
    const found = body.data.find(({ slug }) => slug === 'acme/shared')
    expect(found).toMatchObject({
      created: 77,
      released: null,
      provider: 'alpha',
      routes: [
        { provider: 'alpha', weight: 3 },
        { provider: 'gamma', weight: null },
      ],
    })
    expect(JSON.stringify(body)).not.toContain('secret-deployment')
  })

  test('shows reasoning and each kind of performance mode, and no internals', async () => {
    const { body } = await ask(() => modelsWith(everything))('/v1/models')
    const none = { output: null, cache_read: null, cache_write: null, request: null, image: null }
    const bySlug = (slug: string) => body.data.find((model) => model.slug === slug)
    expect(bySlug('acme/slow')).toMatchObject({
      pricing: null,
      context_window: null,
      context_length: null,
      max_model_len: null,
      reasoning: {
        supported_efforts: ['none', 'low'],
        default_effort: 'low',
        default_enabled: null,
        mandatory: null,
      },
    })
    expect(bySlug('acme/slow')?.performance).toEqual({
      kind: 'base',
      default_mode: 'standard',
      fast: {
        strategy: 'model_variant',
        target_slug: 'acme/fast',
        pricing: { input: 3, ...none },
        supported_parameters: ['stop'],
      },
    })
    expect(bySlug('acme/fast')?.performance).toEqual({
      kind: 'variant',
      mode: 'fast',
      variant_of: 'acme/slow',
    })
    expect(bySlug('acme/tier')?.performance).toEqual({
      kind: 'base',
      default_mode: 'standard',
      fast: { strategy: 'service_tier', service_tier: 'priority', pricing: { input: 3, ...none } },
    })
    expect(JSON.stringify(body)).not.toContain('127.0.0.1')
    expect(JSON.stringify(body)).not.toContain('tiers')
  })

  test('lists each built-in model in the shape of the API', async () => {
    const all = Object.keys(kinds).map((name) => provider(name))
    const names = builtIn.models.flatMap(({ routes }) => (routes ?? []).map(({ provider }) => provider))
    const providers = providersOf(...all, ...[...new Set(names)].map((name) => provider(name)))
    const models = modelsWith([], { catalog: builtIn.models, providers })
    const { body } = await ask(() => models)('/v1/models')
    const validator = Compile(ModelList)
    expect([...validator.Errors(body)]).toEqual([])
    expect(body.data.length).toBe(196)
  })

  test('lists a model that is enabled without a key, with no provider', async () => {
    const { body } = await ask(() => modelsWith([{ slug: 'beta/two', enabled: true }]))('/v1/models')
    expect(body.data.map(({ slug }) => slug)).toEqual(['alpha/one', 'beta/two'])
    expect(body.data[1]).not.toHaveProperty('provider')
    expect(Compile(ModelList).Check(body)).toBe(true)
  })

  test('requires a key', async () => {
    const { status, body } = await ask(() => modelsWith())('/v1/models', 'Bearer sk-weir-wrong')
    expect(status).toBe(401)
    expect(body).not.toHaveProperty('data')
  })

  test('reflects a change of the models', async () => {
    let models = modelsWith()
    const get = ask(() => models)
    expect((await get('/v1/models')).body.data.length).toBe(1)
    models = modelsWith([{ slug: 'alpha/one', enabled: false }])
    expect<unknown>((await get('/v1/models')).body).toEqual({ object: 'list', data: [] })
  })
})

describe('GET /v1/models/{id}', () => {
  const get = ask(() => modelsWith([{ slug: 'alpha/one', aliases: ['uno'] }]))

  test.each(['alpha/one', 'alpha%2Fone', 'one', 'uno'])('returns the model for %s', async (name) => {
    const { status, body } = await get(`/v1/models/${name}`)
    expect(status).toBe(200)
    expect(body).toMatchObject({ id: 'alpha/one', object: 'model', supported_parameters: ['temperature'] })
  })

  test.each(['nobody', 'alpha/none', '%zz', 'beta/two'])('is a 404 for %s', async (name) => {
    const { status, body } = await get(`/v1/models/${name}`)
    expect(status).toBe(404)
    expect(body.error).toMatchObject({
      type: 'invalid_request_error',
      code: 'model_not_found',
      param: 'model',
    })
  })
})
