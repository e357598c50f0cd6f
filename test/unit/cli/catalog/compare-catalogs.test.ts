import { describe, expect, test } from 'bun:test'
import { compareCatalogs, type KnownModels } from '../../../../src/cli/catalog/compare-catalogs.ts'
import type { ModelDetails } from '../../../../src/config/model-details.ts'

const now = Date.parse('2026-11-26')
const river: ModelDetails = {
  slug: 'google/river',
  context_window: 1000,
  pricing: { input: 1, output: 2 },
  routes: [{ provider: 'gemini', model: 'river' }],
}
const nothingKnown = { current: [], settings: [], removed: [] }
const compare = (known: Partial<KnownModels>, ...models: ModelDetails[]) =>
  compareCatalogs({ models, ended: new Set() }, { ...nothingKnown, ...known }, now)
const differences = (before: ModelDetails, after: Partial<ModelDetails>) =>
  compare({ current: [before] }, { slug: before.slug, ...after })

describe('a difference', () => {
  test('is only in prices, sizes and the end of a known model', () => {
    const [change] = differences(river, {
      context_window: 2000,
      shutdown_date: '2027-01-01',
      aliases: ['gpt-5'],
      routes: [{ provider: 'elsewhere', model: 'river' }],
    })
    expect(change?.applied).toEqual({
      slug: 'google/river',
      context_window: 2000,
      shutdown_date: '2027-01-01',
    })
  })

  test('counts the price that applied without one: cached tokens cost as much as input', () => {
    const [change] = differences(river, { pricing: { cache_read: 0.1 } })
    expect(change).toMatchObject({ held_back: 'cache_read is lower.', prices: [{ from: 1, to: 0.1 }] })
    expect(change?.applied).toBeUndefined()
  })

  test('is seen in prices of long prompts and of later days', () => {
    const tiered = { ...river, pricing: { ...river.pricing, tiers: [{ above: 100, input: 3 }] } }
    const cheaper = differences(tiered, { pricing: { tiers: [{ above: 200, input: 3 }] } })
    expect(cheaper).toMatchObject([
      { held_back: 'input is lower.', prices: [{ above: 100, from: 3, to: 1 }] },
    ])
    const later = { effective_from: '2027-01-01', pricing: { input: 0.5, output: 2 } }
    expect(differences(river, { price_changes: [later] })).toMatchObject([
      { held_back: 'input is lower.', prices: [{ price: 'input', effective_from: '2027-01-01' }] },
    ])
  })

  test('starts from the prices of today, and keeps the announced ones', () => {
    const begun = { effective_from: '2026-11-01', pricing: { input: 1.5, output: 2 } }
    const later = { effective_from: '2027-01-01', pricing: { input: 4, output: 4 } }
    const dated = { ...river, price_changes: [begun, later] }
    expect(differences(dated, { pricing: { input: 1.5 } })).toEqual([])
    const [change] = differences(dated, { pricing: { input: 2 } })
    expect(change?.applied).toMatchObject({ pricing: { input: 2, output: 2 }, price_changes: [later] })
  })

  test('in a size limit needs consent where it is lower or new, because it bounds what is charged', () => {
    const [change] = differences(river, { context_window: 999, shutdown_date: '2027-01-01' })
    expect(change?.held_back).toBe('context_window is lower.')
    expect(change?.applied).toEqual({ slug: 'google/river', shutdown_date: '2027-01-01' })
    expect(change?.accepted).toMatchObject({ context_window: 999 })
    expect(differences(river, { max_output_tokens: 1 })).toMatchObject([
      { held_back: 'max_output_tokens had no limit.' },
    ])
    const [dearer] = differences(river, { context_window: 999, pricing: { input: 1.5 } })
    expect(dearer?.applied).toEqual({ slug: 'google/river', pricing: { input: 1.5, output: 2 } })
  })

  test('is in whole nano-dollars, as prices are charged', () => {
    const before = { ...river, pricing: { input: 0.1 + 0.2, output: 2 } }
    expect(differences(before, { pricing: { input: 0.3, output: 2 } })).toEqual([])
    expect(differences(before, { pricing: { input: 0.3, output: 2.000_000_001 } })).toMatchObject([
      { held_back: null, prices: [{ price: 'output' }] },
    ])
  })

  test('reads tiers as requests are charged: of two with the same size, the first', () => {
    const tiers = [
      { above: 1000, input: 0, output: 0 },
      { above: 1000, input: 5, output: 5 },
    ]
    expect(differences(river, { pricing: { input: 1, output: 2, tiers } })).toMatchObject([
      { held_back: 'input is lower.', prices: [{ above: 1000, to: 0 }, { to: 0 }] },
    ])
  })

  test('is seen where the settings have prices of their own, which those of the catalog complete', () => {
    const settings = [{ slug: river.slug, pricing: { input: 7 } }]
    const tiers = [{ above: 1000, input: 1.5 }]
    const after = { slug: river.slug, pricing: { tiers } }
    expect(compare({ current: [river] }, after)[0]?.held_back).toBeNull()
    expect(compare({ current: [river], settings }, after)[0]?.held_back).toBe('input is lower.')
  })

  test('gives a model without prices none that leave something free', () => {
    const unpriced = { ...river, pricing: {} }
    const [change] = differences(unpriced, { pricing: { request: 0.01 } })
    expect(change?.held_back).toBe('input has no price.')
    expect(differences(unpriced, { pricing: { input: 1, output: 2 } })).toMatchObject([{ held_back: null }])
  })
})

describe('a new model', () => {
  const routes = [{ provider: 'openai', model: 'new' }]
  const paid = { input: 1, output: 2 }
  const fast = { strategy: 'service_tier', service_tier: 'priority' } as const

  test.each<[Partial<ModelDetails>, string | null]>([
    [{ pricing: paid }, null],
    [{ pricing: { input: 1, output: 0 }, supported_apis: ['embeddings'] }, null],
    [{ pricing: { input: 1, output: 0 } }, 'output is free.'],
    [
      { pricing: { input: 1, output: 0 }, supported_apis: ['embeddings', 'chat_completions'] },
      'output is free.',
    ],
    [{ pricing: { input: 0, output: 0, cache_read: 1 } }, 'input is free.'],
    [{ pricing: { ...paid, cache_read: 0 } }, 'cache_read is free.'],
    [{ pricing: { input: 1e-12, output: 1e-12 } }, 'input is free.'],
    [{ pricing: { ...paid, tiers: [{ above: 1000, output: 0 }] } }, 'output is free.'],
    [{ pricing: { request: 0.01 } }, 'input has no price.'],
    [{}, 'input has no price.'],
    [{ price_changes: [{ effective_from: '2029-01-01', pricing: paid }] }, 'input has no price.'],
    [
      {
        pricing: { input: 0, output: 0 },
        price_changes: [{ effective_from: '2029-01-01', pricing: paid }],
      },
      'input is free.',
    ],
    [
      {
        pricing: paid,
        price_changes: [{ effective_from: '2027-01-01', pricing: { input: 0, output: 0 } }],
      },
      'input is free.',
    ],
    [{ pricing: paid, fast: { ...fast, pricing: { input: 0, output: 0 } } }, 'input is free.'],
    [{ pricing: paid, aliases: ['gpt-5'] }, 'It has aliases.'],
    [
      { pricing: paid, routes: [...routes, { provider: 'gemini', model: 'river' }] },
      'gemini:river is already known as google/river.',
    ],
  ])('%j is held back where something is free or it may be another name: %p', (details, reason) => {
    const [change] = compare({ current: [river] }, { slug: 'openai/new', routes, ...details })
    expect(change).toMatchObject({ kind: 'added', held_back: reason })
    expect(change?.applied !== undefined).toBe(reason === null)
  })

  test('is held back where its name or its route is known otherwise', () => {
    const model = { slug: 'openai/new', routes, pricing: paid }
    const reasonOf = (known: Partial<KnownModels>) => compare(known, model)[0]?.held_back
    expect(reasonOf({ removed: ['openai/new'] })).toBe('Its removal was accepted earlier.')
    expect(reasonOf({ settings: [{ slug: 'openai/new' }] })).toContain('The settings file')
    expect(reasonOf({ settings: [{ slug: 'a/b', routes }] })).toBe('openai:new is already known as a/b.')
    expect(reasonOf({ current: [{ ...river, aliases: ['openai/new'] }] })).toBe(
      'It has the name of an alias of google/river.',
    )
    const [first, second] = compare({}, model, { ...model, slug: 'openai/cheap' })
    expect(first?.held_back).toBeNull()
    expect(second?.held_back).toBe('openai:new is already known as openai/new.')
  })
})
