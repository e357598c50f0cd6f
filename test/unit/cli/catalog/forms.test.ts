import { describe, expect, test } from 'bun:test'
import { compareCatalogs } from '../../../../src/cli/catalog/compare-catalogs.ts'
import { readCatalog } from '../../../../src/cli/catalog/read-catalog.ts'
import { pricePerMillion } from '../../../../src/cli/catalog/token-prices.ts'
import type { ModelDetails } from '../../../../src/config/model-details.ts'

const today = '2026-11-26'
const now = Date.parse(today)
const river: ModelDetails = {
  slug: 'google/river',
  context_window: 1000,
  pricing: { input: 1, output: 2 },
  routes: [{ provider: 'gemini', model: 'river' }],
}
const read = (file: unknown) => readCatalog(file, [river], today)
const differences = (before: ModelDetails, after: Partial<ModelDetails>) =>
  compareCatalogs([before], { models: [{ slug: before.slug, ...after }], ended: new Set() }, now)

test.each([
  ['0.00000025', 0.25],
  [2.5e-7, 0.25],
  ['1.25e-06', 1.25],
  [3.0000000000000004e-7, 0.3],
  [0.1 + 0.2, 300_000],
  ['0.000000000000001', 1e-9],
  ['0', 0],
  [1.1e-6, 1.1],
  ['-1', undefined],
  ['', undefined],
  [null, undefined],
  ['1e9999', undefined],
  [Number.NaN, undefined],
])('the price of a token %p is %p for a million of them', (perToken, expected) => {
  expect(pricePerMillion(perToken)).toBe(expected)
})

describe('the form', () => {
  test('of OpenRouter gives models of OpenRouter, and skips prices that vary', () => {
    const { form, models, skipped } = read({
      data: [
        {
          id: 'acme/river:free',
          name: 'River',
          context_length: 4096,
          architecture: { input_modalities: ['text', 'image', 'smell'], output_modalities: ['text'] },
          top_provider: { max_completion_tokens: 1024 },
          expiration_date: '2027-01-31',
          pricing: {
            prompt: '0.0000003',
            completion: '0.000001',
            input_cache_read: '0.00000003',
            request: '0',
            image: '0',
          },
        },
        { id: 'acme/auto', pricing: { prompt: '-1', completion: '-1' } },
        { pricing: {} },
        { id: 'acme/\u001b[31mred', pricing: { prompt: '0.1' } },
        { id: 'acme/dear', pricing: { prompt: '2', completion: '1' } },
        { id: 'acme/river:free', pricing: { prompt: '1e-9', completion: '1e-9' } },
      ],
    })
    expect(form).toBe('OpenRouter')
    expect(models).toEqual([
      {
        slug: 'openrouter/acme/river:free',
        display_name: 'River',
        context_window: 4096,
        max_output_tokens: 1024,
        shutdown_date: '2027-01-31',
        pricing: { input: 0.3, output: 1, cache_read: 0.03 },
        input_modalities: ['text', 'image'],
        output_modalities: ['text'],
        routes: [{ provider: 'openrouter', model: 'acme/river:free' }],
      },
    ])
    expect(skipped.map(({ reason }) => reason)).toEqual([
      'prompt is not a price.',
      'It has no id.',
      'Its name has unusual characters.',
      'A price is above 1000000 USD per million tokens.',
      'It repeats an earlier entry.',
    ])
  })

  test('of LiteLLM gives the prices of known models, by provider and name there', () => {
    const { form, models, ended } = read({
      sample_spec: { litellm_provider: 'one of the list' },
      'gemini/river': {
        litellm_provider: 'gemini',
        input_cost_per_token: 1.5e-6,
        output_cost_per_token: 2e-6,
        cache_read_input_token_cost: 0,
        input_cost_per_token_above_200k_tokens: 3e-6,
        output_cost_per_token_above_200k_tokens: 4e-6,
        deprecation_date: '2027-02-01',
      },
      river: { litellm_provider: 'openai', input_cost_per_token: 9 },
      'gemini/unknown': { litellm_provider: 'gemini', input_cost_per_token: 9 },
    })
    expect(form).toBe('LiteLLM')
    expect(models).toEqual([
      {
        slug: 'google/river',
        pricing: { input: 1.5, output: 2, tiers: [{ above: 200_000, input: 3, output: 4 }] },
        shutdown_date: '2027-02-01',
      },
    ])
    expect(ended.size).toBe(0)
    const past = { litellm_provider: 'gemini', deprecation_date: '2026-11-25' }
    expect([...read({ 'gemini/river': past }).ended]).toEqual(['google/river'])
  })

  test('of models.dev has the facts of the built-in catalog, and names entries that it cannot read', () => {
    const entry = {
      id: 'river',
      name: 'River',
      reasoning: false,
      tool_call: true,
      limit: { context: 2000, output: 100 },
      modalities: { input: ['text'], output: ['text'] },
      cost: { input: 1, output: 2, cache_read: 0.1 },
    }
    const models = {
      river: entry,
      old: { ...entry, id: 'old', status: 'deprecated' },
      broken: { id: 'broken' },
    }
    const result = read({ google: { id: 'google', models }, other: 1 })
    expect(result).toMatchObject({
      form: 'models.dev',
      models: [{ slug: 'google/river', context_window: 2000 }],
    })
    expect([...result.ended]).toEqual(['google/old'])
    expect([...result.complete]).toEqual(['gemini'])
    expect(result.skipped.map((skipped) => skipped.entry)).toEqual(['google.models.broken'])
  })

  test('of Weir names what is wrong with an entry', () => {
    const { models, skipped } = read({
      models: [
        { slug: 'google/river', pricing: { input: -1 } },
        { slug: 'x' },
        { slug: 'a/b', colour: 1 },
        {},
      ],
    })
    expect(models).toEqual([])
    expect(skipped.map(({ entry }) => entry)).toEqual(['google/river', 'x', 'a/b', 'models[3]'])
  })
})

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
})
