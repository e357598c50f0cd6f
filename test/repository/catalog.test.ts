import { describe, expect, test } from 'bun:test'
import { Compile } from 'typebox/compile'
import {
  applyChanges,
  formatCatalog,
  parseChanges,
  selectModels,
  withAdditions,
} from '../../src/build/catalog.ts'
import { directProviders } from '../../src/cli/catalog/direct-providers.ts'
import { toModelFacts } from '../../src/cli/catalog/models-dev-entry.ts'
import { catalog } from '../../src/config/catalog.ts'
import { ModelDetails } from '../../src/config/model-details.ts'
import { kinds } from '../../src/providers/kinds/kinds.ts'
import { withResponsesApi } from '../../src/providers/kinds/responses.ts'

const shared = `${import.meta.dir}/../../../shared/catalog`
const directIdsFile = Bun.file(`${shared}/direct-ids.json`)
const present = await directIdsFile.exists()
const directIds: Record<string, string[]> = present ? await directIdsFile.json() : {}
if (!present) console.log('The data of models.dev is not here: the catalog is not compared with its source.')

describe('the built-in catalog', () => {
  test('has only entries that the settings could contain too', () => {
    const validator = Compile(ModelDetails)
    expect(catalog.models.filter((model) => !validator.Check(model))).toEqual([])
  })

  test('has 202 models, each slug once, each with one route', () => {
    expect(catalog.models.length).toBe(202)
    expect(new Set(catalog.models.map(({ slug }) => slug)).size).toBe(202)
    const routes = catalog.models.map(({ routes }) =>
      routes?.map(({ provider, model }) => `${provider} ${model}`),
    )
    expect(new Set(routes.flat()).size).toBe(202)
  })

  test('names its date, its source and the licence', () => {
    expect(catalog.snapshot).toMatch(/^\d{4}-\d{2}-\d{2}$/)
    expect(catalog.source).toContain('models.dev')
    expect(catalog.notice).toContain('Copyright (c) 2025 models.dev')
  })

  test('has a price for each enabled model, except for the few whose source has none', () => {
    const unpriced = catalog.models.filter(({ enabled, pricing }) => enabled !== false && !pricing)
    expect(unpriced.map(({ slug }) => slug)).toEqual([
      'google/gemma-4-26b-a4b-it',
      'google/gemma-4-31b-it',
      'groq/groq/compound',
      'groq/groq/compound-mini',
    ])
    const free = catalog.models.filter(({ pricing }) => pricing && !pricing.input)
    expect(free).toEqual([])
  })

  test('has the embedding models, with the price of their input and without parameters of chat', () => {
    const embedding = catalog.models.filter(({ supported_apis }) => supported_apis?.includes('embeddings'))
    expect(embedding.map(({ slug, pricing }) => [slug, pricing])).toEqual([
      ['openai/text-embedding-3-large', { input: 0.13, output: 0 }],
      ['openai/text-embedding-3-small', { input: 0.02, output: 0 }],
      ['openai/text-embedding-ada-002', { input: 0.1, output: 0 }],
      ['google/gemini-embedding-001', { input: 0.15, output: 0 }],
      ['mistral/mistral-embed', { input: 0.1, output: 0 }],
    ])
    for (const model of embedding) {
      expect(model).toMatchObject({ supported_apis: ['embeddings'], supported_parameters: [] })
      expect(model.enabled).toBeUndefined()
    }
  })

  test('disables transcription, images and models with restricted access', () => {
    const off = catalog.models.filter(({ enabled }) => enabled === false).map(({ slug }) => slug)
    expect(off).toContain('groq/whisper-large-v3')
    expect(off).toContain('openai/gpt-image-1.5')
    expect(off).toContain('anthropic/claude-mythos-5-1')
    expect(off.length).toBe(6)
  })

  test('claims no parameter that the protocol of its provider cannot carry', () => {
    const beyond = catalog.models.flatMap(({ slug, routes, supported_parameters }) => {
      const [route] = routes ?? []
      const kind = kinds[route?.provider ?? '']
      if (!kind || !('protocol' in kind)) throw new Error(`There is no kind for ${slug}.`)
      const { protocol } = route?.api ? withResponsesApi(kind) : kind
      const carried: ReadonlySet<string> = protocol.parameters
      return (supported_parameters ?? [])
        .filter((word) => !carried.has(word))
        .map((word) => `${slug} ${word}`)
    })
    expect(beyond).toEqual([])
  })

  test.skipIf(!present)('has all of the listed ids that produce text and have not ended', async () => {
    const { file, additions, changes } = await sources()
    const ended = changes.filter(({ kind, now }) => kind === 'retired' || (kind === 'wrong' && !now))
    const endedSlugs = new Set(ended.map(({ slug }) => slug))
    const listed = directProviders.flatMap(({ name, source, author }) =>
      [
        ...(directIds[source] ?? pricedIds(file[source])),
        ...Object.keys(additions.providers[source]?.models ?? {}),
      ].map((id) => {
        const { status, modalities } = file[source]?.models[id] ?? {}
        const isServed = status !== 'deprecated' && !endedSlugs.has(`${author}/${id}`)
        return { id: `${name} ${id}`, isServed: isServed && modalities?.output.includes('text') === true }
      }),
    )
    const ids = new Set(listed.map(({ id }) => id))
    const held = new Set(
      catalog.models.flatMap(({ routes = [] }) =>
        routes.map(({ provider, model }) => `${provider} ${model}`),
      ),
    )
    expect([...held].filter((id) => !ids.has(id))).toEqual([])
    expect(listed.filter(({ id, isServed }) => isServed && !held.has(id))).toEqual([])
  })

  test.skipIf(!present)('is what the script generates from its source', async () => {
    const { file, changes } = await sources()
    const models = applyChanges(selectModels(file).map(toModelFacts), changes, catalog.snapshot)
    const commit = /commit (\w+)/.exec(catalog.source)?.[1]
    const written = await Bun.file(`${import.meta.dir}/../../src/config/catalog.json`).text()
    expect(JSON.parse(formatCatalog({ snapshot: catalog.snapshot, commit, models }))).toEqual(
      JSON.parse(written),
    )
  })

  test('has the prices of a later day where they are known, and the day on which a model ends', () => {
    const bySlug = new Map(catalog.models.map((model) => [model.slug, model]))
    expect(bySlug.get('google/gemini-3.8-flash')?.price_changes).toEqual([
      { effective_from: '2027-01-01', pricing: { input: 1.5, output: 7.5, cache_read: 0.15 } },
    ])
    // Google answers for them with 3.8 Flash and 3.5 Flash-Lite from that day on.
    expect(bySlug.get('google/gemini-2.5-pro')?.price_changes).toEqual([
      { effective_from: '2026-12-01', pricing: { input: 0.75, output: 3.75, cache_read: 0.075 } },
      { effective_from: '2027-01-01', pricing: { input: 1.5, output: 7.5, cache_read: 0.15 } },
    ])
    expect(bySlug.get('google/gemini-2.5-flash')?.price_changes).toEqual([
      { effective_from: '2026-12-01', pricing: { input: 0.3, output: 2.5, cache_read: 0.03 } },
    ])
    expect(bySlug.get('openai/gpt-4o')?.price_changes).toBeUndefined()
    expect(bySlug.get('openai/gpt-4o')?.shutdown_date).toBe('2027-01-14')
    expect(bySlug.has('openai/o1')).toBe(false)
  })

  test('uses the Responses API for the models of OpenAI whose chat completions reject tools', () => {
    const apiOf = (slug: string) => catalog.models.find((model) => model.slug === slug)?.routes?.[0]?.api
    const slugs = ['gpt-5.4', 'gpt-5.5', 'gpt-5.6-sol', 'gpt-6-luna', 'gpt-6.2-sol', 'gpt-5.1', 'gpt-4.1']
    expect(slugs.map((slug) => apiOf(`openai/${slug}`))).toEqual([
      ...Array<'responses'>(5).fill('responses'),
      undefined,
      undefined,
    ])
  })

  test('claims no effort of none for Claude models that always reason', () => {
    const bySlug = new Map(catalog.models.map((model) => [model.slug, model]))
    for (const slug of ['claude-opus-5-5', 'claude-sonnet-5-5'].map((name) => `anthropic/${name}`)) {
      expect(bySlug.get(slug)?.reasoning).toMatchObject({ mandatory: true })
      expect(bySlug.get(slug)?.reasoning?.supported_efforts).not.toContain('none')
    }
  })

  test('has the models of Z.ai at the prices of its API', () => {
    const models = catalog.models.filter(({ slug }) => slug.startsWith('zai/'))
    expect(models.find(({ slug }) => slug === 'zai/glm-5.3')).toMatchObject({
      pricing: { input: 1.4, output: 4.4, cache_read: 0.26 },
      routes: [{ provider: 'zai', model: 'glm-5.3' }],
    })
    expect(models.length).toBe(14)
  })

  test('has the current prices where an earlier snapshot charged too little, and no alias without a price', () => {
    const priceOf = (slug: string) => catalog.models.find((model) => model.slug === slug)?.pricing
    expect(priceOf('deepseek/deepseek-v4-pro')).toMatchObject({ input: 1.32, output: 3.96 })
    expect(priceOf('deepseek/deepseek-v4-flash')).toMatchObject({ input: 0.3, output: 1.2 })
    expect(priceOf('mistral/mistral-medium-latest')).toMatchObject({ input: 1.5, output: 7.5 })
    expect(priceOf('google/gemini-flash-latest')).toBeUndefined()
  })
})

type SourceFile = Readonly<Record<string, { models: Readonly<Record<string, SourceEntry>> }>>
type SourceEntry = { status?: string; modalities: { output: string[] }; cost?: { input: number } }

/** The ids with a price above zero. */
function pricedIds(provider: SourceFile[string] | undefined): string[] {
  return Object.entries(provider?.models ?? {}).flatMap(([id, { cost }]) => (cost?.input ? [id] : []))
}

/** The file of models.dev with the additions, and what has changed since. */
async function sources() {
  const read = (path: string) => Bun.file(`${shared}/${path}`).json()
  const additions: { providers: SourceFile } = await read('autumn-2026/additions.json')
  const file = withAdditions(await read('models.dev/api.generated.json'), additions) as SourceFile
  return { file, additions, changes: parseChanges(await read('autumn-2026/changes.json')) }
}
