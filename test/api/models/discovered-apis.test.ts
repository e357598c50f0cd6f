import { expect, test } from 'bun:test'
import { startApp } from '../../support/app.ts'
import { json } from '../../support/script.ts'
import { createUpstream } from '../../support/upstream.ts'
import { embed, embeddingReply } from '../support/embeddings.ts'
import { choice, complete, completionReply } from '../support/text-completions.ts'

const listing = json({ data: [{ id: 'river-9b' }, { id: 'Nomic-Embed-Text' }] })

test('a discovered model whose name says so embeds, and any other at an engine has conversations and completions', async () => {
  await using engine = await createUpstream(listing)
  const box = { kind: 'vllm', base_url: engine.url, discover: true }
  await using app = await startApp({ settings: { providers: { box } } })
  const list = (await (await app.request('/v1/models')).json()) as {
    data: { id: string; supported_apis: string[] }[]
  }
  expect(list.data.map(({ id, supported_apis }) => [id, supported_apis])).toEqual([
    ['box/Nomic-Embed-Text', ['embeddings']],
    ['box/river-9b', ['chat_completions', 'responses', 'messages', 'completions']],
  ])
  engine.respondWith(embeddingReply([[1]]), completionReply([choice('x', { finish_reason: 'stop' })]))
  expect((await embed(app, { model: 'box/Nomic-Embed-Text', input: 'a' })).status).toBe(200)
  expect((await complete(app, { model: 'box/river-9b', prompt: 'a' })).status).toBe(200)
})

test('the settings decide what a discovered model serves', async () => {
  await using engine = await createUpstream(listing)
  const box = { kind: 'vllm', base_url: engine.url, discover: true }
  const models = [{ slug: 'box/river-9b', supported_apis: ['embeddings' as const] }]
  await using app = await startApp({ settings: { providers: { box }, models } })
  const model = await (await app.request('/v1/models/box/river-9b')).json()
  expect(model).toMatchObject({ supported_apis: ['embeddings'], supported_parameters: [] })
})
