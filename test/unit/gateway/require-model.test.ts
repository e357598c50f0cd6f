import { expect, test } from 'bun:test'
import { requireModel } from '../../../src/gateway/models/require-model.ts'
import { ApiError } from '../../../src/lib/errors/errors.ts'
import { listed, modelsWith, provider, providersOf } from './support/model-fixtures.ts'

const toAlpha = [{ provider: 'alpha', model: 'x' }]
const found = (models: ReturnType<typeof modelsWith>, name: string) => models.find(name)?.slug

test('a model is found by its slug, its alias and its name without the author', () => {
  const models = modelsWith([{ slug: 'alpha/one', aliases: ['uno'] }])
  expect(['alpha/one', 'uno', 'one'].map((name) => found(models, name))).toEqual(Array(3).fill('alpha/one'))
  expect(found(models, 'one-id')).toBeUndefined()
  expect(found(models, 'ONE')).toBeUndefined()
  expect(found(models, '')).toBeUndefined()
})

test('a bare name that two models share is ambiguous', () => {
  const models = modelsWith([{ slug: 'acme/one', routes: toAlpha }])
  expect(found(models, 'one')).toBeUndefined()
  expect(found(models, 'acme/one')).toBe('acme/one')
})

test('of two models with one bare name the enabled one is found', () => {
  expect(found(modelsWith([{ slug: 'acme/two', routes: toAlpha }]), 'two')).toBe('acme/two')
})

test('a bare name of an enabled model stays unambiguous when a provider lists another', () => {
  const providers = providersOf(provider('alpha'), provider('box', { discover: true }))
  const discovered = new Map([['box', listed('one', 'alpha/one', 'deep/only')]])
  const models = modelsWith([], { providers, discovered })
  expect(['one', 'box/one', 'box/alpha/one'].map((name) => found(models, name))).toEqual([
    'alpha/one',
    'box/one',
    'box/alpha/one',
  ])
  expect(found(models, 'only')).toBe('box/deep/only')
})

test('a bare name that only two providers list is ambiguous', () => {
  const providers = providersOf(provider('a'), provider('b'))
  const discovered = new Map([
    ['a', listed('same')],
    ['b', listed('same')],
  ])
  const models = modelsWith([], { providers, discovered })
  expect(found(models, 'same')).toBeUndefined()
  expect(models.sharing('same').map(({ slug }) => slug)).toEqual(['a/same', 'b/same'])
  expect(models.sharing('a/same')).toEqual([])
})

test('a discovered model has the context window of its provider', () => {
  const discovered = new Map([['alpha', [{ id: 'listed', contextWindow: 8192 }]]])
  expect(modelsWith([], { discovered }).find('alpha/listed')?.contextWindow).toBe(8192)
  const entry = { slug: 'alpha/listed', context_window: 4096 }
  expect(modelsWith([entry], { discovered }).find('alpha/listed')?.contextWindow).toBe(4096)
})

test('a discovered model is named after its provider, and found by the last part of its id', () => {
  const providers = providersOf(provider('gpu-box', { discover: true }))
  const models = modelsWith([], { providers, discovered: new Map([['gpu-box', listed('Qwen/Qwen3-32B')]]) })
  const model = models.find('gpu-box/Qwen/Qwen3-32B')
  expect(model).toMatchObject({
    author: 'gpu-box',
    ownedBy: 'gpu-box',
    created: 77,
    displayName: 'Qwen/Qwen3-32B',
  })
  expect(model?.routes[0]).toMatchObject({ model: 'Qwen/Qwen3-32B', provider: { name: 'gpu-box' } })
  expect(['Qwen/Qwen3-32B', 'Qwen3-32B'].map((name) => found(models, name))).toEqual(
    Array(2).fill('gpu-box/Qwen/Qwen3-32B'),
  )
  expect(models.enabled.length).toBe(1)
})

test('the settings may describe a model before its provider lists it', () => {
  const providers = providersOf(provider('gpu-box', { discover: true }))
  const entry = { slug: 'gpu-box/later', context_window: 5 }
  const before = modelsWith([entry], { providers })
  expect(before.problems).toEqual([])
  expect(before.find('gpu-box/later')?.disabled).toContain('gpu-box')
  const after = modelsWith([entry], { providers, discovered: new Map([['gpu-box', listed('later')]]) })
  expect(after.enabled[0]).toMatchObject({ slug: 'gpu-box/later', contextWindow: 5 })
})

const rejection = (models: ReturnType<typeof modelsWith>, name: string) => {
  try {
    return requireModel(models, name)
  } catch (error) {
    return error instanceof ApiError ? error : undefined
  }
}

test('an enabled model is found', () => {
  expect(rejection(modelsWith(), 'alpha/one')).toMatchObject({ slug: 'alpha/one' })
})

const shared = modelsWith(
  [
    { slug: 'acme/one', routes: toAlpha },
    { slug: 'acme/three', routes: [{ provider: 'beta', model: 'x' }] },
    { slug: 'other/three', routes: [{ provider: 'beta', model: 'x' }] },
  ],
  {},
)
const unknown = "The model 'nobody/x' does not exist. GET /v1/models lists the enabled models."

test.each([
  ['unknown', 'nobody/x', unknown],
  ['disabled, and says what to set', 'beta/two', 'The model beta/two is disabled. Set BETA_API_KEY.'],
  [
    'ambiguous, and names the candidates',
    'one',
    "The model name 'one' is ambiguous: it matches acme/one and alpha/one. Use the full name.",
  ],
  [
    'ambiguous among disabled ones',
    'three',
    "The model name 'three' is ambiguous: it matches acme/three and other/three, which are all disabled.",
  ],
])('a model that is not found is reported as %s', (what, name, message) => {
  const [kind] = what.split(/[ ,]/)
  expect(rejection(shared, name)).toMatchObject({
    status: 404,
    code: 'model_not_found',
    param: 'model',
    message,
    log: { reason: `${kind}_model`, model: name },
  })
})

const routed = (slug: string) => ({ slug, routes: toAlpha })
const near = modelsWith([
  routed('openai/gpt-4o-mini'),
  routed('openai/gpt-4o'),
  { ...routed('acme/river-9b'), aliases: ['sonnet'] },
  routed('ollama/llama3.2:latest'),
  routed('box/deep/Qwen3-32B'),
])

test.each([
  ['gpt-4o-mni', 'openai/gpt-4o-mini'],
  ['opnai/gpt-4o-mini', 'openai/gpt-4o-mini'],
  ['azure/gpt-4o-mini', 'openai/gpt-4o-mini'],
  ['GPT-4O', 'openai/gpt-4o'],
  ['gpt-4o-2024-08-06', 'openai/gpt-4o'],
  ['llama3', 'ollama/llama3.2:latest'],
  ['qwen3-32b', 'box/deep/Qwen3-32B'],
  ['sonet', 'acme/river-9b'],
])('the error for %s suggests the intended model', (name, slug) => {
  expect(rejection(near, name)).toMatchObject({ message: expect.stringContaining(`Did you mean ${slug}`) })
})

test('a name without the tag “latest” is that of the enabled model, unless another one has it', () => {
  const tagged = [
    'ollama/river:latest',
    'ollama/delta:latest',
    'ollama/delta',
    'box/mouth:latest',
    'hub/mouth:latest',
  ]
  const models = modelsWith(tagged.map(routed))
  expect(requireModel(models, 'ollama/river').slug).toBe('ollama/river:latest')
  expect(requireModel(models, 'river').slug).toBe('ollama/river:latest')
  expect(requireModel(models, 'ollama/delta').slug).toBe('ollama/delta')
  expect(requireModel(models, 'box/mouth').slug).toBe('box/mouth:latest')
  const message = expect.stringContaining('it matches box/mouth:latest and hub/mouth:latest')
  expect(rejection(models, 'mouth')).toMatchObject({ message })
})

test.each(['beta/tow', 'two-', 'claude', '', ' ', 'x', '/', 'alpha/vectrs'])(
  'the error for %p suggests neither a disabled model nor a distant name',
  (name) => {
    expect(rejection(near, name)).toMatchObject({ message: expect.not.stringContaining('Did you mean') })
  },
)

test('a name of any length and any characters gets a short error immediately', () => {
  const many = modelsWith(Array.from({ length: 5000 }, (_, index) => routed(`acme/model-${index}-instruct`)))
  for (const name of ['m'.repeat(1_000_000), `acme/model-${'x'.repeat(80)}`, 'acme/mdel-77x-instruct']) {
    for (let time = 0; time < 5; time++) {
      const error = rejection(many, name) as ApiError
      expect(error.message.length).toBeLessThan(400)
    }
  }
  expect((rejection(near, 'a\nb') as ApiError).message).toContain("'a\ufffdb'")
})
