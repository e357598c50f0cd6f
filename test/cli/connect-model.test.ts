import { describe, expect, test } from 'bun:test'
import { dirname, join } from 'node:path'
import { command as connect } from '../../src/cli/commands/connect.ts'
import { chooseModel, type ConnectCandidate } from '../../src/cli/connect/models.ts'
import { connectTools } from '../../src/cli/connect/tools.ts'
import type { SettingsFile } from '../../src/config/settings.ts'
import { jsonReply } from '../support/chat-fixtures.ts'
import { startScenario } from '../support/scenario.ts'
import { storageFixture } from './support/storage-fixture.ts'

function candidate(slug: string, changes: Partial<ConnectCandidate> = {}): ConnectCandidate {
  return {
    slug,
    displayName: slug,
    tools: true,
    images: false,
    schemas: true,
    conversational: true,
    created: 0,
    ...changes,
  }
}

const now = Date.parse('2026-11-28')

const tool = (name: string) => connectTools.find((tool) => tool.name === name)!

test('the default model is the newest one that the tool prefers', () => {
  const candidates = [
    candidate('anthropic/claude-opus-5', { created: 9 }),
    candidate('anthropic/claude-sonnet-4-5', { created: 2 }),
    candidate('anthropic/claude-sonnet-5', { created: 3 }),
    candidate('openai/gpt-5.1-codex-max', { created: 4 }),
    candidate('openai/gpt-5.2-codex', { created: 5 }),
  ]
  expect(chooseModel(tool('claude-code'), candidates, { now }).model.slug).toBe('anthropic/claude-sonnet-5')
  expect(chooseModel(tool('codex'), candidates, { now }).model.slug).toBe('openai/gpt-5.2-codex')
})

test('the default model is otherwise the cheapest one that generates text and accepts tools', () => {
  const candidates = [
    candidate('a/dear', { outputPrice: 10 }),
    candidate('b/image', { outputPrice: 0.1, conversational: false }),
    candidate('c/plain', { outputPrice: 0.2, tools: false }),
    candidate('d/cheap', { outputPrice: 1 }),
    candidate('e/unknown-price'),
  ]
  expect(chooseModel(tool('openai'), candidates, { now }).model.slug).toBe('d/cheap')
  expect(chooseModel(tool('openai'), [...candidates, candidate('weir/echo')], { now }).model.slug).toBe(
    'weir/echo',
  )
  expect(chooseModel(tool('openai'), [], { now }).model.slug).toBe('weir/echo')
})

test('a chosen model comes first in a menu, which has a bound and only models for conversations', () => {
  const candidates = Array.from({ length: 100 }, (_, index) =>
    candidate(`a/m${index}`, { conversational: index !== 1 }),
  )
  const { model, models, note } = chooseModel(tool('zed'), candidates, { slug: 'a/m50', now })
  expect(model.slug).toBe('a/m50')
  expect(models).toHaveLength(20)
  expect(models.map(({ slug }) => slug).slice(0, 3)).toEqual(['a/m50', 'a/m0', 'a/m2'])
  expect(note).toBeUndefined()
})

test('a model that ends within 90 days is no default', () => {
  const candidates = [
    candidate('openai/small', { outputPrice: 0.4, shutdownDate: '2026-12-11' }),
    candidate('openai/gpt-5.2-codex', { created: 1, outputPrice: 14, shutdownDate: '2027-02-27' }),
    candidate('openai/gpt-5.1-codex', { created: 2, outputPrice: 14, shutdownDate: '2027-02-25' }),
    candidate('openai/large', { outputPrice: 10 }),
  ]
  expect(chooseModel(tool('openai'), candidates, { now }).model.slug).toBe('openai/large')
  expect(chooseModel(tool('codex'), candidates, { now }).model.slug).toBe('openai/gpt-5.2-codex')
  expect(chooseModel(tool('openai'), candidates.slice(0, 1), { now }).model.slug).toBe('openai/small')
})

test('a menu has the newest models first, and those that end soon last', () => {
  const candidates = [
    candidate('a/old', { created: 1 }),
    candidate('a/ending', { created: 9, shutdownDate: '2026-12-11' }),
    candidate('a/ended', { created: 3, shutdownDate: '2026-11-01' }),
    candidate('a/new', { created: 5 }),
  ]
  const { models } = chooseModel(tool('zed'), candidates, { slug: 'a/old', now })
  expect(models.map(({ slug }) => slug)).toEqual(['a/old', 'a/new', 'a/ending', 'a/ended'])
})

test('a model that is not enabled is used, and a note suggests the one that was likely meant', () => {
  const { model, note } = chooseModel(tool('zed'), [candidate('acme/river')], { slug: 'acme/rivr', now })
  expect(model.slug).toBe('acme/rivr')
  expect(note).toBe('The model acme/rivr is not one of the enabled models. Did you mean acme/river?')
})

test('a model whose name has control characters is not offered', () => {
  const { models } = chooseModel(tool('zed'), [candidate('a/\u001b[2J'), candidate('a/b')], { now })
  expect(models.map(({ slug }) => slug)).toEqual(['a/b'])
})

describe('models that only embed or complete texts are not offered', () => {
  const models = (['embeddings', 'completions'] as const).map((api) => ({
    slug: `acme/${api}`,
    supported_apis: [api],
    routes: [{ provider: 'acme', model: api }],
  }))

  test('of a gateway', async () => {
    await using scenario = await startScenario(jsonReply(), { models })
    const { url, key } = scenario.app
    expect(await offered({}, '--url', url, '--key', key)).toEqual(['acme/river'])
  })

  test('of the settings', async () => {
    const river = { slug: 'acme/river', routes: [{ provider: 'acme', model: 'river-1' }] }
    const settings = { providers: { acme: { kind: 'vllm' } }, models: [river, ...models] }
    expect(await offered(settings)).toEqual(['acme/river'])
  })

  /** The models in what the command prints for a tool with a menu, where `weir.yaml` has these settings. */
  async function offered(settings: SettingsFile, ...flags: string[]): Promise<string[]> {
    const { say: run, data } = storageFixture({ OLLAMA_HOST: 'elsewhere.test' })
    await Bun.write(join(dirname(data), 'weir.yaml'), JSON.stringify(settings))
    const { out } = await run(connect, 'llm', ...flags, '--json')
    const entries = Bun.YAML.parse(JSON.parse(out).files[0].content) as { model_name: string }[]
    return entries.map((entry) => entry.model_name)
  }
})
