import { expect, test } from 'bun:test'
import { chooseModel, type ConnectCandidate } from '../../src/cli/connect/models.ts'
import { connectTools } from '../../src/cli/connect/tools.ts'

function candidate(slug: string, changes: Partial<ConnectCandidate> = {}): ConnectCandidate {
  return { slug, displayName: slug, tools: true, images: false, text: true, created: 0, ...changes }
}

const tool = (name: string) => connectTools.find((tool) => tool.name === name)!

test('the default model is the newest one that the tool prefers', () => {
  const candidates = [
    candidate('anthropic/claude-opus-5', { created: 9 }),
    candidate('anthropic/claude-sonnet-4-5', { created: 2 }),
    candidate('anthropic/claude-sonnet-5', { created: 3 }),
    candidate('openai/gpt-5.1-codex-max', { created: 4 }),
    candidate('openai/gpt-5.2-codex', { created: 5 }),
  ]
  expect(chooseModel(tool('claude-code'), candidates).model.slug).toBe('anthropic/claude-sonnet-5')
  expect(chooseModel(tool('codex'), candidates).model.slug).toBe('openai/gpt-5.2-codex')
})

test('the default model is otherwise the cheapest one that generates text and accepts tools', () => {
  const candidates = [
    candidate('a/dear', { outputPrice: 10 }),
    candidate('b/image', { outputPrice: 0.1, text: false }),
    candidate('c/plain', { outputPrice: 0.2, tools: false }),
    candidate('d/cheap', { outputPrice: 1 }),
    candidate('e/unknown-price'),
  ]
  expect(chooseModel(tool('openai'), candidates).model.slug).toBe('d/cheap')
  expect(chooseModel(tool('openai'), [...candidates, candidate('weir/echo')]).model.slug).toBe('weir/echo')
  expect(chooseModel(tool('openai'), []).model.slug).toBe('weir/echo')
})

test('a chosen model comes first in a menu, which has a bound and only models that generate text', () => {
  const candidates = Array.from({ length: 100 }, (_, index) =>
    candidate(`a/m${index}`, { text: index !== 1 }),
  )
  const { model, models, note } = chooseModel(tool('zed'), candidates, 'a/m50')
  expect(model.slug).toBe('a/m50')
  expect(models).toHaveLength(20)
  expect(models.map(({ slug }) => slug).slice(0, 3)).toEqual(['a/m50', 'a/m0', 'a/m2'])
  expect(note).toBeUndefined()
})

test('a model that is not enabled is used, and a note suggests the one that was likely meant', () => {
  const { model, note } = chooseModel(tool('zed'), [candidate('acme/river')], 'acme/rivr')
  expect(model.slug).toBe('acme/rivr')
  expect(note).toBe('The model acme/rivr is not one of the enabled models. Did you mean acme/river?')
})

test('a model whose name has control characters is not offered', () => {
  const { models } = chooseModel(tool('zed'), [candidate('a/\u001b[2J'), candidate('a/b')])
  expect(models.map(({ slug }) => slug)).toEqual(['a/b'])
})
