import { describe, expect, test } from 'bun:test'
import { Compile } from 'typebox/compile'
import { formatCatalog } from '../../src/build/catalog.ts'
import { toModelFacts } from '../../src/build/catalog/model.ts'
import { selectModels } from '../../src/build/catalog/source.ts'
import { catalog } from '../../src/config/catalog.ts'
import { ModelDetails } from '../../src/config/model-details.ts'
import { kinds } from '../../src/providers/kinds/kinds.ts'
import { withResponsesApi } from '../../src/providers/kinds/responses.ts'

const shared = `${import.meta.dir}/../../../shared/catalog`
const present = await Bun.file(`${shared}/direct-ids.json`).exists()
if (!present) console.log('The data of models.dev is not here: the catalog is not compared with its source.')

describe('the built-in catalog', () => {
  test('has only entries that the settings could contain too', () => {
    const validator = Compile(ModelDetails)
    expect(catalog.models.filter((model) => !validator.Check(model))).toEqual([])
  })

  test('has 170 models, each slug once, each with one route', () => {
    expect(catalog.models.length).toBe(170)
    expect(new Set(catalog.models.map(({ slug }) => slug)).size).toBe(170)
    const routes = catalog.models.map(({ routes }) =>
      routes?.map(({ provider, model }) => `${provider} ${model}`),
    )
    expect(new Set(routes.flat()).size).toBe(170)
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

  test('disables transcription and images', () => {
    const off = catalog.models.filter(({ enabled }) => enabled === false).map(({ slug }) => slug)
    expect(off).toContain('groq/whisper-large-v3')
    expect(off).toContain('openai/gpt-image-1.5')
    expect(off.length).toBe(5)
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

  test.skipIf(!present)('has all of the listed ids that produce text and are not deprecated', async () => {
    const ids: Record<string, string[]> = await Bun.file(`${shared}/direct-ids.json`).json()
    const listed = new Set(
      Object.entries(ids).flatMap(([provider, list]) => list.map((id) => `${provider} ${id}`)),
    )
    const sourceNames: Record<string, string> = {
      gemini: 'google',
      together: 'togetherai',
      fireworks: 'fireworks-ai',
    }
    const held = catalog.models.flatMap(({ routes }) =>
      (routes ?? []).map(({ provider, model }) => `${sourceNames[provider] ?? provider} ${model}`),
    )
    expect(held.filter((id) => !listed.has(id))).toEqual([])
    const left = [...listed].filter((id) => !held.includes(id))
    const file = await Bun.file(`${shared}/models.dev/api.generated.json`).json()
    const reasons = left.map((id) => {
      const [provider, ...name] = id.split(' ')
      const { status, modalities } = file[provider ?? ''].models[name.join(' ')]
      return status === 'deprecated' || !modalities.output.includes('text')
    })
    expect(reasons.every(Boolean)).toBe(true)
    expect(left.length).toBe(34)
  })

  test.skipIf(!present)('is what the script generates from its source', async () => {
    const file = await Bun.file(`${shared}/models.dev/api.generated.json`).json()
    const models = selectModels(file).map(toModelFacts)
    const commit = /commit (\w+)/.exec(catalog.source)?.[1]
    const written = await Bun.file(`${import.meta.dir}/../../src/config/catalog.json`).text()
    expect(JSON.parse(formatCatalog({ snapshot: catalog.snapshot, commit, models }))).toEqual(
      JSON.parse(written),
    )
  })
})
