import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { ModelDetails } from '../../../src/config/model-details.ts'
import type { SettingsFile } from '../../../src/config/settings.ts'
import { fieldsOf, listOf } from '../../../src/lib/json/json.ts'
import { startApp } from '../../support/app.ts'
import { jsonReply } from '../../support/chat-fixtures.ts'
import { messageRequest, readMessage, sendMessage } from '../../support/messages.ts'
import { startScenario } from '../../support/scenario.ts'
import { projectFolder } from '../../support/source.ts'

const headers = { 'anthropic-version': '2023-06-01' }

describe('a model of any provider is reached under the name of a Claude model', () => {
  const aliases = ['claude-sonnet-4-5-20250929', 'claude-opus-4-5', 'claude-haiku-4-5', 'sonnet']
  test.each(aliases)('%s', async (name) => {
    await using scenario = await startScenario(jsonReply(), { model: { aliases } })
    const message = await readMessage(await sendMessage(scenario.app, { ...messageRequest, model: name }))
    expect(message.model).toBe('acme/river')
    expect(scenario.acme.requests[0]?.body.model).toBe('river-1')
    const model = await scenario.app.request(`/v1/models/${name}`, { headers })
    expect(await model.json()).toMatchObject({ type: 'model', id: 'acme/river' })
  })
})

test('the local model in docs/claude-code.md serves every name that the page gives it', async () => {
  const page = await Bun.file(join(projectFolder, 'docs', 'claude-code.md')).text()
  const [, yaml = ''] = /```yaml\n([^]*?)```/.exec(page) ?? []
  const settings = Bun.YAML.parse(yaml) as SettingsFile
  await using app = await startApp({ settings })
  const aliases = settings.models?.[0]?.aliases ?? []
  expect(aliases.length).toBeGreaterThan(3)
  for (const name of [...aliases, 'local/qwen3-coder', 'qwen3-coder'])
    expect(await (await app.request(`/v1/models/${name}`)).json()).toMatchObject({ id: 'local/qwen3-coder' })
})

describe('the list of models in the form of Anthropic', () => {
  const routes = [{ provider: 'acme', model: 'm' }]
  const models = ['a/one', 'b/two', 'c/three'].map((slug): ModelDetails => ({ slug, routes }))
  const first = { context_window: 1000, max_output_tokens: 100, released: '2026-01-02' }

  async function list(query: string) {
    await using scenario = await startScenario([], { model: { ...first, display_name: 'River' }, models })
    const reply = await scenario.app.request(`/v1/models${query}`, { headers })
    const body = fieldsOf(await reply.json())
    const ids = listOf(body.data).map((model) => fieldsOf(model).id)
    return { status: reply.status, body, ids }
  }

  test('has the fields of that API', async () => {
    const { body } = await list('?limit=2')
    expect(listOf(body.data)[1]).toEqual({
      type: 'model',
      id: 'acme/river',
      display_name: 'River',
      created_at: '2026-01-02T00:00:00.000Z',
      max_input_tokens: 1000,
      max_tokens: 100,
      lifecycle: 'active',
      deprecated_at: null,
      retires_at: null,
    })
    expect(body).toMatchObject({ has_more: true, first_id: 'a/one', last_id: 'acme/river' })
  })

  test('has the day on which the provider ends a model', async () => {
    await using scenario = await startScenario([], { model: { shutdown_date: '2027-01-31' } })
    const reply = await scenario.app.request('/v1/models/acme/river', { headers })
    expect(await reply.json()).toMatchObject({
      lifecycle: 'deprecated',
      deprecated_at: null,
      retires_at: '2027-01-31T00:00:00.000Z',
    })
  })

  test('has the aliases that Claude Code offers, after their model, and no other alias', async () => {
    const aliases = ['claude-river', 'river', 'anthropic-river']
    await using scenario = await startScenario([], { model: { ...first, aliases }, models })
    const list = async (query: string) => {
      const reply = await scenario.app.request(`/v1/models${query}`, { headers })
      return listOf(fieldsOf(await reply.json()).data).map((model) => fieldsOf(model).id)
    }
    const named = ['acme/river', 'claude-river', 'anthropic-river']
    expect<unknown>(await list('')).toEqual(['a/one', ...named, 'b/two', 'c/three'])
    expect<unknown>(await list('?limit=1&after_id=claude-river')).toEqual(['anthropic-river'])
  })

  test.each([
    ['', ['a/one', 'acme/river', 'b/two', 'c/three'], false],
    ['?limit=3', ['a/one', 'acme/river', 'b/two'], true],
    ['?after_id=b/two', ['c/three'], false],
    ['?limit=1&after_id=a/one', ['acme/river'], true],
    ['?before_id=c/three&limit=2', ['acme/river', 'b/two'], true],
    ['?after_id=c/three', [], false],
    ['?after_id=c/three&before_id=a/one', [], false],
  ])('is paged by %j', async (query, expected, more) => {
    const { ids, body } = await list(query)
    expect<unknown>(ids).toEqual(expected)
    expect(body).toMatchObject({
      has_more: more,
      first_id: expected[0] ?? null,
      last_id: expected.at(-1) ?? null,
    })
  })

  test.each(['?limit=0', '?limit=1001', '?limit=x', '?after_id=d/none', '?before_id=d/none'])(
    'rejects %s',
    async (query) => {
      expect(await list(query)).toMatchObject({ status: 400, body: { type: 'error' } })
    },
  )
})

describe('the key of a client of the Messages API', () => {
  const wrong = 'Bearer sk-weir-Test00000000-WrongWrongWrongWrongWrongWrong00'
  test.each<readonly [string, number, string, (key: string) => Record<string, string | null>]>([
    ['x-api-key', 200, '/v1/messages', (key) => ({ authorization: null, 'x-api-key': key })],
    ['bearer', 200, '/v1/messages', (key) => ({ authorization: `Bearer ${key}` })],
    [
      'x-api-key with the version',
      200,
      '/v1/models',
      (key) => ({ ...headers, authorization: null, 'x-api-key': key }),
    ],
    ['x-api-key of other APIs', 401, '/v1/models', (key) => ({ authorization: null, 'x-api-key': key })],
    [
      'both, with another bearer',
      200,
      '/v1/messages',
      (key) => ({ authorization: 'Bearer other', 'x-api-key': key }),
    ],
    [
      'both, with another x-api-key',
      200,
      '/v1/messages',
      (key) => ({ authorization: `Bearer ${key}`, 'x-api-key': 'sk-ant' }),
    ],
    ['a wrong x-api-key', 401, '/v1/messages', () => ({ authorization: null, 'x-api-key': 'sk-ant' })],
    ['a wrong bearer', 401, '/v1/messages', () => ({ authorization: wrong })],
    ['none', 401, '/v1/messages', () => ({ authorization: null })],
  ])('%s', async (_, status, path, headersFor) => {
    await using app = await startApp()
    const body = path === '/v1/messages' ? { ...messageRequest, model: 'weir/echo' } : undefined
    const reply = await app.request(path, { headers: headersFor(app.key), body })
    expect(reply.status).toBe(status)
  })
})
