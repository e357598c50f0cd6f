import { expect, test } from 'bun:test'
import { requireModel } from '../../src/gateway/models/require-model.ts'
import { ApiError } from '../../src/lib/errors.ts'
import { modelsWith, provider, providersOf } from './model-world.ts'

const toAlpha = [{ provider: 'alpha', model: 'x' }]
const found = (models: ReturnType<typeof modelsWith>, name: string) => models.find(name)?.slug

test('a model is found by slug, by alias and by the name behind its author', () => {
  const models = modelsWith([{ slug: 'alpha/one', aliases: ['uno'] }])
  expect(['alpha/one', 'uno', 'one'].map((name) => found(models, name))).toEqual(Array(3).fill('alpha/one'))
  expect(found(models, 'one-id')).toBeUndefined()
  expect(found(models, 'ONE')).toBeUndefined()
  expect(found(models, '')).toBeUndefined()
})

test('a bare name that two models share finds neither', () => {
  const models = modelsWith([{ slug: 'acme/one', routes: toAlpha }])
  expect(found(models, 'one')).toBeUndefined()
  expect(found(models, 'acme/one')).toBe('acme/one')
})

test('of two models with one bare name the one that is on is meant', () => {
  expect(found(modelsWith([{ slug: 'acme/two', routes: toAlpha }]), 'two')).toBe('acme/two')
})

test('a discovered model is named after its provider, and found by the last part of its id', () => {
  const providers = providersOf(provider('gpu-box', { discover: true }))
  const models = modelsWith([], { providers, discovered: new Map([['gpu-box', ['Qwen/Qwen3-32B']]]) })
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

test('the settings may describe a model that its provider has yet to list', () => {
  const providers = providersOf(provider('gpu-box', { discover: true }))
  const entry = { slug: 'gpu-box/later', context_window: 5 }
  const before = modelsWith([entry], { providers })
  expect(before.problems).toEqual([])
  expect(before.find('gpu-box/later')?.disabled).toContain('gpu-box')
  const after = modelsWith([entry], { providers, discovered: new Map([['gpu-box', ['later']]]) })
  expect(after.enabled[0]).toMatchObject({ slug: 'gpu-box/later', contextWindow: 5 })
})

test('an unknown model and one that is off are 404, and the second says what to set', () => {
  const models = modelsWith()
  const refusal = (name: string) => {
    try {
      return requireModel(models, name)
    } catch (error) {
      return error instanceof ApiError ? error : undefined
    }
  }
  expect(refusal('nobody/x')).toMatchObject({ status: 404, code: 'model_not_found', param: 'model' })
  expect(refusal('beta/two')).toMatchObject({ status: 404, message: expect.stringContaining('BETA_API_KEY') })
  expect(refusal('alpha/one')).toMatchObject({ slug: 'alpha/one' })
})
