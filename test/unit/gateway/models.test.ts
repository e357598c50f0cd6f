import { describe, expect, test } from 'bun:test'
import { configureProviders } from '../../../src/providers/config/configure-providers.ts'
import { responses } from '../../../src/providers/protocols/responses/protocol.ts'
import type { LocalKind } from '../../../src/providers/provider.ts'
import { catalog, kindNamed, modelsWith, provider, providersOf } from './support/model-fixtures.ts'

const slugs = (models: readonly { readonly slug: string }[]) => models.map(({ slug }) => slug)

describe('a model of the catalog', () => {
  test('is enabled where its provider is configured, with all properties of the catalog', () => {
    const models = modelsWith()
    expect(slugs(models.enabled)).toEqual(['alpha/one'])
    expect(models.find('alpha/one')).toMatchObject({
      displayName: 'One',
      author: 'alpha',
      ownedBy: 'alpha',
      created: Date.UTC(2026, 0, 2) / 1000,
      contextWindow: 1000,
      routes: [{ model: 'one-id', provider: { name: 'alpha' } }],
    })
    expect(models.find('alpha/one')?.disabled).toBeUndefined()
  })

  test('is disabled without a key, and reports what to set', () => {
    const two = modelsWith().find('beta/two')
    expect(two?.disabled).toBe('Set BETA_API_KEY.')
    expect(two?.keyMissing).toBeUndefined()
    expect(two?.routes).toEqual([])
  })

  test('without chat is disabled until the settings enable it', () => {
    expect(modelsWith().find('alpha/vectors')?.disabled).toContain('enabled: true')
    expect(slugs(modelsWith([{ slug: 'alpha/vectors', enabled: true }]).enabled)).toContain('alpha/vectors')
  })

  test('without a release date has the date of its discovery', () => {
    expect(modelsWith().find('beta/two')?.created).toBe(77)
  })
})

describe('a model entry of the settings', () => {
  test('overrides only the properties that it names, prices one by one', () => {
    const one = modelsWith([{ slug: 'alpha/one', pricing: { input: 9 }, aliases: ['uno'] }]).find('uno')
    expect(one?.pricing).toEqual({ input: 9, output: 2, cache_read: 0.1, tiers: [{ above: 500, input: 3 }] })
    expect(one).toMatchObject({ slug: 'alpha/one', displayName: 'One', contextWindow: 1000 })
    expect(catalog[0]?.pricing?.input).toBe(1)
  })

  test('disables a model', () => {
    const models = modelsWith([{ slug: 'alpha/one', enabled: false }])
    expect(models.enabled).toEqual([])
    expect(models.find('alpha/one')?.disabled).toBe('It has “enabled: false” in weir.yaml.')
  })

  test('lists a model that is enabled without a key, with the error for the client', () => {
    const models = modelsWith([{ slug: 'beta/two', enabled: true }])
    expect(slugs(models.enabled)).toContain('beta/two')
    expect(models.find('beta/two')).toMatchObject({ keyMissing: 'Set BETA_API_KEY.', routes: [] })
    expect(models.problems).toEqual([])
  })

  test('adds a model with routes, in their order and without those that lack a key', () => {
    const routes = [
      { provider: 'beta', model: 'b' },
      { provider: 'gamma', model: 'c', weight: 2 },
      { provider: 'alpha', model: 'a' },
    ]
    const providers = providersOf(provider('alpha'), provider('gamma'))
    const model = modelsWith([{ slug: 'acme/own', routes }], { providers }).find('acme/own')
    expect(model?.routes.map(({ provider, model, weight }) => [provider.name, model, weight])).toEqual([
      ['gamma', 'c', 2],
      ['alpha', 'a', undefined],
    ])
    expect(model?.pricing).toBeUndefined()
    expect(model?.disabled).toBeUndefined()
  })

  test('without supported parameters has those of the protocol of its first route', () => {
    const mistral = kindNamed('mistral')
    const providers = providersOf(provider('alpha', { kind: mistral }))
    const routes = [{ provider: 'alpha', model: 'a' }]
    const found = modelsWith([{ slug: 'acme/own', routes }], { providers }).find('acme/own')
    expect(found?.supportedParameters.has('temperature')).toBe(true)
    expect(found?.supportedParameters.has('logit_bias')).toBe(false)
    expect([...(modelsWith().find('alpha/one')?.supportedParameters ?? [])]).toEqual(['temperature'])
  })

  test('keeps the API of the catalog for a route to the same model of the same provider', () => {
    const details = {
      slug: 'alpha/one',
      routes: [{ provider: 'alpha', model: 'one-id', api: 'responses' as const }],
    }
    const protocolsOf = (provider: string) => {
      const routes = [{ provider, model: 'one-id', weight: 2 }]
      const models = modelsWith([{ slug: 'acme/uno', routes }], {
        catalog: [details],
        providers: providersOf(provider === 'alpha' ? alpha : plain),
      })
      return models
        .find('acme/uno')
        ?.routes.map(({ provider: { kind } }) => 'protocol' in kind && kind.protocol)
    }
    const [alpha, plain] = [provider('alpha'), provider('plain')]
    expect(protocolsOf('alpha')).toEqual([responses])
    expect(protocolsOf('plain')).not.toEqual([responses])
  })

  test('selects the Responses API for a route, and supports the parameters of that', () => {
    const providers = providersOf(provider('alpha', { kind: kindNamed('openai') }))
    const route = { provider: 'alpha', model: 'a' } as const
    const listed = [
      { slug: 'acme/chat', routes: [route] },
      { slug: 'acme/pro', routes: [{ ...route, api: 'responses' as const }] },
    ]
    const models = modelsWith(listed, { providers })
    const [chat, pro] = [models.find('acme/chat'), models.find('acme/pro')]
    expect([chat?.supportedParameters.has('stop'), pro?.supportedParameters.has('stop')]).toEqual([
      true,
      false,
    ])
    expect(pro?.routes.map(({ provider }) => provider.name)).toEqual(['alpha'])
    expect(models.problems).toEqual([])
  })

  const routes = [{ provider: 'alpha', model: 'x' }]
  const variant = { strategy: 'model_variant', target_slug: 'acme/none', pricing: {} } as const
  test.each([
    [{ slug: 'acme/lost' }, 'models[0]', 'must have routes'],
    [
      { slug: 'acme/x', routes: [{ provider: 'nobody', model: 'x' }] },
      'models[0].routes[0].provider',
      'nobody',
    ],
    [{ slug: 'acme/x', routes, supported_parameters: ['heat'] }, 'models[0].supported_parameters[0]', 'heat'],
    [{ slug: 'acme/x', routes, timeouts: { first_token: '25h' } }, 'models[0].timeouts.first_token', '24h'],
    [{ slug: 'acme/x', routes, aliases: ['alpha/one'] }, 'models[0].aliases[0]', 'alpha/one'],
    [{ slug: 'acme/x', routes, variant_of: 'acme/none' }, 'models[0].variant_of', 'acme/none'],
    [{ slug: 'acme/x', routes, fast: variant }, 'models[0].fast.target_slug', 'acme/none'],
  ])('that is invalid is reported: %j', (entry, path, word) => {
    const { problems } = modelsWith([entry])
    expect(problems).toEqual([{ path, message: expect.stringContaining(word) }])
  })

  test('that is valid reports nothing', () => {
    expect(modelsWith([{ slug: 'acme/x', routes, aliases: ['x'] }]).problems).toEqual([])
  })
})

describe('the fast mode of a model', () => {
  const routes = [{ provider: 'alpha', model: 'x' }]
  const slow = {
    slug: 'acme/slow',
    routes,
    fast: { strategy: 'model_variant', target_slug: 'acme/fast', pricing: {} },
  } as const
  const base = { ...slow, routes: [...routes] }

  test('is present while the other model that serves it is enabled', () => {
    const models = modelsWith([base, { slug: 'acme/fast', routes, variant_of: 'acme/slow' }])
    expect(models.find('acme/slow')?.fast).toMatchObject({ target_slug: 'acme/fast' })
    expect(models.find('acme/fast')?.variantOf).toBe('acme/slow')
  })

  test('is absent once the other model is disabled', () => {
    const models = modelsWith([base, { slug: 'acme/fast', routes, enabled: false }])
    expect(models.find('acme/slow')).not.toHaveProperty('fast')
    expect(models.find('acme/slow')?.disabled).toBeUndefined()
  })
})

describe('the built-in echo model', () => {
  const kind: LocalKind = {
    name: 'echo',
    parameters: new Set(['stop']),
    // oxlint-disable-next-line require-yield
    generate: async function* () {},
  }

  test('is available where it is configured, free and with its supported parameters', () => {
    const models = modelsWith([], { providers: providersOf(provider('echo', { kind })) })
    expect(slugs(models.enabled)).toEqual(['weir/echo'])
    expect(models.find('weir/echo')).toMatchObject({ pricing: { input: 0, output: 0 }, author: 'weir' })
    expect([...(models.find('echo')?.supportedParameters ?? [])]).toEqual(['stop'])
  })

  test('is disabled elsewhere, with the reason and what to set', () => {
    const { missing, configured } = configureProviders(
      { providers: { alpha: { kind: 'vllm', base_url: 'http://127.0.0.1:1/v1' } } },
      {},
    )
    const models = modelsWith([], { providers: { configured, missing } })
    expect(slugs(models.enabled)).not.toContain('weir/echo')
    expect(models.find('weir/echo')?.disabled).toBe(
      'Other providers are configured. To enable it as well, add “echo: {}” to providers in weir.yaml.',
    )
  })

  test('is unknown where its name belongs to another provider', () => {
    const models = modelsWith([], { providers: providersOf(provider('echo')) })
    expect(models.find('weir/echo')).toBeUndefined()
  })
})
