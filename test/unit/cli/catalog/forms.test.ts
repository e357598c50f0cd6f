import { describe, expect, test } from 'bun:test'
import { readCatalog } from '../../../../src/cli/catalog/read-catalog.ts'
import { pricePerMillion } from '../../../../src/cli/catalog/token-prices.ts'
import type { ModelDetails } from '../../../../src/config/model-details.ts'

const today = '2026-11-26'
const river: ModelDetails = {
  slug: 'google/river',
  context_window: 1000,
  pricing: { input: 1, output: 2 },
  routes: [{ provider: 'gemini', model: 'river' }],
}
const read = (file: unknown) => readCatalog(file, [river], today)
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
      // Fields that only the additions to the built-in catalog have.
      more: {
        ...entry,
        id: 'more',
        reasoning: true,
        reasoning_options: [{ type: 'effort', values: ['low', 'high'] }],
        aliases: ['river'],
        cost_from: [{ from: '2027-01-01', cost: { input: 0 } }],
        derived: { cache_write: 0.01 },
        default_effort: 'low',
      },
    }
    const result = read({ google: { id: 'google', models }, other: 1 })
    expect(result).toMatchObject({
      form: 'models.dev',
      models: [{ slug: 'google/river', context_window: 2000 }, { slug: 'google/more' }],
    })
    expect(result.models[1]).not.toContainAnyKeys(['aliases', 'price_changes'])
    expect(result.models[1]?.pricing).toEqual({ input: 1, output: 2, cache_read: 0.1 })
    expect(result.models[1]?.reasoning).not.toContainKey('default_effort')
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

  test('of Weir has a new model that its provider serves under the rest of the slug', () => {
    const { models, skipped } = read({ models: [{ slug: 'openai/new/one' }, { slug: 'google/river' }] })
    expect(models).toEqual([
      { slug: 'openai/new/one', routes: [{ provider: 'openai', model: 'new/one' }] },
      { slug: 'google/river' },
    ])
    expect(skipped).toEqual([])
  })

  test.each<[Partial<ModelDetails>, string]>([
    [{ routes: [{ provider: 'openai', model: 'x\u001b[2J' }] }, 'A text has control characters.'],
    [{ pricing: { input: 1 } }, 'It is not in the catalog, and has no routes.'],
    [{ author: 'a\u202eb' }, 'A text has control characters.'],
    [{ aliases: ['a\nb'] }, 'A text has control characters.'],
    [{ supported_parameters: ['\u0007'] }, 'A text has control characters.'],
    [{ pricing: { tiers: [{ above: 5 }, { above: 5, input: 1 }] } }, 'Two tiers begin at the same size.'],
    [
      { pricing: { tiers: Array.from({ length: 17 }, (_, index) => ({ above: index + 1 })) } },
      'It has more than 16 tiers.',
    ],
    [
      { price_changes: Array.from({ length: 65 }, () => ({ effective_from: '2027-01-01', pricing: {} })) },
      'It has more than 64 price changes.',
    ],
    [
      { fast: { strategy: 'service_tier', service_tier: 'priority', pricing: { input: 1_000_001 } } },
      'A price is above 1000000 USD per million tokens.',
    ],
  ])('of Weir skips %j', (entry, reason) => {
    const { models, skipped } = read({ models: [{ slug: 'a/b', ...entry }] })
    expect({ models, skipped }).toEqual({ models: [], skipped: [{ entry: 'a/b', reason }] })
  })
})
