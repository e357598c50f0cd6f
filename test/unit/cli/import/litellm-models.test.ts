import { describe, expect, test } from 'bun:test'
import { importYaml, oneModel } from './support/import-yaml.ts'

/** Two Azure deployments of one model, with these additional parameters, and a second model. */
function group(first: string, second: string, rest = ''): string {
  const azure = (name: string, more: string) =>
    `  - { model_name: chat, litellm_params: { model: azure/${name}, api_base: https://x.openai.azure.com${more} } }`
  const other = '  - { model_name: spare, litellm_params: { model: ollama/river }, model_info: { id: "7" } }'
  return ['model_list:', azure('one', first), azure('two', second), other, rest].join('\n')
}

/** `model weight` of each route of the first model. */
function routes(source: string): string[] {
  const [model] = importYaml(source).settings.models ?? []
  return (model?.routes ?? []).map(({ model, weight }) =>
    weight === undefined ? model : `${model} ${weight}`,
  )
}

test('deployments with different prices become a model with those of the most expensive one', () => {
  const [low, high] = [
    ', input_cost_per_token: 1e-6, output_cost_per_token: 2e-6',
    ', input_cost_per_token: 1e-5',
  ]
  const { settings, notes } = importYaml(group(low, `${high}, output_cost_per_token: 3e-5`))
  expect(settings.models?.[0]?.pricing).toEqual({ input: 10, output: 30 })
  expect(notes).toContain(
    'model_list[0]: The deployments of “chat” have different prices; the model has those of the most expensive one.',
  )
  const same = importYaml(group(low, low))
  expect(same.settings.models?.[0]?.pricing).toEqual({ input: 1, output: 2 })
  expect(same.notes.filter((note) => note.includes('different prices'))).toEqual([])
})

describe('stream_timeout becomes the time to the first token of a stream, and not that of a whole answer', () => {
  test('with a timeout of the whole answer beside it', () => {
    const { settings } = importYaml(oneModel('{ model: ollama/river, timeout: 300, stream_timeout: 3 }'))
    expect(settings.models?.[0]?.timeouts).toEqual({ first_token: '3s' })
    expect(settings.providers?.ollama?.timeouts).toEqual({ first_byte: '300s' })
  })

  test('without one, and in an entry of its own for each name', () => {
    const { settings, notes } = importYaml(`model_list:
  - { model_name: quick, litellm_params: { model: ollama/river, stream_timeout: 0.5 } }
  - { model_name: slow, litellm_params: { model: ollama/river } }`)
    expect(settings.providers).toEqual({ ollama: {} })
    expect(settings.models?.map(({ slug, timeouts }) => [slug, timeouts])).toEqual([
      ['ollama/quick', { first_token: '500ms' }],
      ['ollama/slow', undefined],
    ])
    expect(notes.join()).not.toContain('stream')
  })

  test('the longest one of several deployments, which is noted', () => {
    const { settings, notes } = importYaml(group(', stream_timeout: 9', ', stream_timeout: 0.5e2'))
    expect(settings.models?.map(({ timeouts }) => timeouts)).toEqual([{ first_token: '50s' }, undefined])
    expect(notes).toContain(
      'model_list[0]: The deployments of “chat” have different stream timeouts; the model has the longest one.',
    )
    const same = importYaml(group(', stream_timeout: 9', ', stream_timeout: 9'))
    expect(same.settings.models?.[0]?.timeouts).toEqual({ first_token: '9s' })
    expect(same.notes.join()).not.toContain('stream')
  })

  test('but of models that do not stream or are not listed', () => {
    const embeddings = importYaml(oneModel('{ model: openai/text-embedding-3-small, stream_timeout: 3 }'))
    expect(embeddings.settings.models?.[0]?.timeouts).toBeUndefined()
    const wildcard = importYaml(oneModel('{ model: ollama/*, stream_timeout: 3 }', 'ollama/*'))
    expect(wildcard.settings.providers).toEqual({ ollama: { discover: true } })
    expect(wildcard.notes).toContain(
      'model_list[0].litellm_params.stream_timeout: Set timeouts.first_token of each model; it is no setting of a provider.',
    )
  })

  test('unless it is no time', () => {
    const { settings, notes } = importYaml(oneModel('{ model: ollama/river, stream_timeout: soon }'))
    expect(settings.models?.[0]?.timeouts).toBeUndefined()
    expect(notes).toContain('model_list[0].litellm_params.stream_timeout: It is not a number of seconds.')
  })
})

describe('the routes of a model are drawn and ordered as in LiteLLM', () => {
  test.each([
    ['equally without weights', group('', ''), ['one 1', 'two 1']],
    ['by weight', group(', weight: 3', ', weight: 1'), ['one 3', 'two 1']],
    ['by rpm without weights', group(', rpm: 60, tpm: 5', ', rpm: 20, tpm: 5'), ['one 60', 'two 20']],
    ['by tpm where there is no rpm', group(', tpm: 80_000', ', tpm: "7"'), ['one 80000', 'two 7']],
    ['in order where only the first one has a weight', group(', weight: 5', ''), ['one', 'two']],
    ['equally where all weights are 0', group(', weight: 0', ', weight: 0'), ['one 1', 'two 1']],
    ['by order before weight', group(', order: 2, weight: 9', ', order: 1'), ['two', 'one']],
    [
      'with fallbacks last',
      group('', '', 'router_settings: { fallbacks: [{ chat: [spare] }] }'),
      ['one 1', 'two 1', 'river 0'],
    ],
    [
      'with a fallback by id',
      group(', order: 1', '', 'litellm_settings: { fallbacks: [{ chat: "7" }] }'),
      ['one', 'two', 'river'],
    ],
    [
      'with default fallbacks',
      group('', '', 'litellm_settings: { default_fallbacks: [spare] }'),
      ['one 1', 'two 1', 'river 0'],
    ],
    [
      'with the fallback of *',
      group('', '', 'litellm_settings: { fallbacks: [{ "*": [spare] }] }'),
      ['one 1', 'two 1', 'river 0'],
    ],
    [
      'as one where the deployments are equal',
      `model_list:
  - { model_name: a, litellm_params: { model: openai/gpt-4o, rpm: 5 } }
  - { model_name: a, litellm_params: { model: openai/gpt-4o, rpm: 6 } }`,
      ['gpt-4o'],
    ],
  ])('%s', (_, source, expected) => {
    expect(routes(source)).toEqual(expected)
  })
})

test('a fallback that a wildcard serves has a route, and an unknown one is noted', () => {
  const { settings, notes } = importYaml(`model_list:
  - { model_name: a, litellm_params: { model: ollama/river } }
  - { model_name: "*", litellm_params: { model: "openai/*" } }
  - { model_name: "team/*", litellm_params: { model: "groq/*" } }
litellm_settings: { fallbacks: [{ a: [gpt-5-mini, team/x] }, { b: [a] }] }`)
  expect(settings.models?.[0]?.routes).toEqual([
    { provider: 'ollama', model: 'river' },
    { provider: 'openai', model: 'gpt-5-mini' },
    { provider: 'groq', model: 'x' },
  ])
  expect(settings.providers).toMatchObject({ openai: { discover: true }, groq: { discover: true } })
  expect(notes).toContain('model_list[2]: “team/*”: the models of this provider are called groq/… in Weir.')
  expect(notes).toContain('litellm_settings.fallbacks[1].b: There is no imported model of this name.')
  const missing = importYaml(
    `${oneModel('{ model: ollama/river }')}\nrouter_settings: { fallbacks: [{ chat: [gone, { model: x }] }] }`,
  )
  expect(missing.notes).toEqual([
    'router_settings.fallbacks[0].chat[1]: A fallback is the name of a model in Weir: it cannot change the request.',
    'router_settings.fallbacks[0].chat[0]: This fallback names no imported model.',
  ])
})

describe('the names of a model', () => {
  test('are its slug in the catalog, with the name in LiteLLM as an alias', () => {
    const { settings } = importYaml(oneModel('{ model: openai/gpt-4o }', 'chat'))
    expect(settings.models).toEqual([
      { slug: 'openai/gpt-4o', aliases: ['chat'], routes: [{ provider: 'openai', model: 'gpt-4o' }] },
    ])
  })

  test('are the provider and the name where the catalog does not have it, and a name with a slash stays', () => {
    const { settings } = importYaml(`model_list:
  - { model_name: chat, litellm_params: { model: ollama/river } }
  - { model_name: team/chat, litellm_params: { model: ollama/river } }
  - { model_name: "two words", litellm_params: { model: ollama/lake } }`)
    expect(settings.models?.map(({ slug, aliases }) => [slug, aliases])).toEqual([
      ['ollama/chat', ['chat']],
      ['team/chat', undefined],
      ['ollama/two-words', ['two words']],
    ])
  })

  test('with the same routes are aliases of one model, and model_group_alias adds more', () => {
    const { settings, notes } = importYaml(`model_list:
  - { model_name: a, litellm_params: { model: ollama/river } }
  - { model_name: b, litellm_params: { model: ollama/river } }
router_settings: { model_group_alias: { c: a, d: { model: b, hidden: true }, e: gone, openai/gpt-4o: a } }`)
    expect(settings.models).toHaveLength(1)
    expect(settings.models?.[0]?.aliases).toEqual(['a', 'b', 'c', 'd'])
    expect(notes).toEqual([
      'router_settings.model_group_alias.e: This alias names no imported model.',
      'router_settings.model_group_alias.openai/gpt-4o: Weir has another model named “openai/gpt-4o”.',
    ])
  })

  test('never take the slug of another catalog model, whose facts are repeated', () => {
    const { settings } = importYaml(`model_list:
  - { model_name: gpt-4, litellm_params: { model: openai/gpt-4o } }
  - { model_name: gpt-4.1, litellm_params: { model: openai/gpt-4o, api_key: os.environ/B } }`)
    const [first, second] = settings.models ?? []
    expect(first).toMatchObject({ slug: 'openai/gpt-4o', aliases: ['gpt-4'] })
    expect(second).toMatchObject({ slug: 'openai-2/gpt-4.1', context_window: 128000 })
    expect(second?.pricing?.input).toBeGreaterThan(0)
    expect(first?.pricing).toBeUndefined()
  })
})

describe('the facts of a model', () => {
  test('are prices in USD per million tokens, without binary fractions', () => {
    const info = `{ input_cost_per_token: 0.00000015, output_cost_per_token: "6e-7", cache_read_input_token_cost: 7.5e-8,
      cache_creation_input_token_cost: 1e-7, input_cost_per_token_above_200k_tokens: 3e-7, output_cost_per_token_above_200k_tokens: 1.2e-6 }`
    const { settings } = importYaml(
      oneModel('{ model: ollama/river, input_cost_per_token: 0.0000002 }', 'a', info),
    )
    expect(settings.models?.[0]?.pricing).toEqual({
      input: 0.2,
      output: 0.6,
      cache_read: 0.075,
      cache_write: 0.1,
      tiers: [{ above: 200_000, input: 0.3, output: 1.2 }],
    })
  })

  test('are limits, modalities and parameters where they are certain', () => {
    const info = `{ max_input_tokens: 32000, max_tokens: 4000, supports_vision: True, supports_function_calling: False,
      supports_reasoning: true }`
    const [model] = importYaml(oneModel('{ model: ollama/river }', 'a', info)).settings.models ?? []
    expect(model).toMatchObject({
      context_window: 32_000,
      max_output_tokens: 4000,
      input_modalities: ['text', 'image'],
    })
    expect(model?.supported_parameters).toContain('reasoning_effort')
    expect(model?.supported_parameters).not.toContain('tools')
    expect(model?.supported_parameters).not.toContain('tool_choice')
  })

  test('come from the catalog by base_model, and a price that is not known is noted', () => {
    const azure = (info: string) =>
      importYaml(oneModel('{ model: azure/mine, api_base: https://x.openai.azure.com }', 'a', info))
    expect(azure('{ base_model: azure/gpt-4o }').settings.models?.[0]?.slug).toBe('openai/gpt-4o')
    expect(azure('{ base_model: azure/gpt-4o }').notes.join()).not.toContain('price')
    expect(azure('{}').notes).toContain(
      'model_list[0]: Weir knows no price of “a”; set pricing of the model to record what it costs.',
    )
  })
})
