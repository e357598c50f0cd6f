import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { embed, embedMany } from 'ai'
import { describe, expect, test } from 'bun:test'
import { base64Of, embeddingModel as model, embeddingReply, vectors } from '../api/support/embeddings.ts'
import type { App } from '../support/app.ts'
import { startScenario } from '../support/scenario.ts'
import { startOpenaiScenario } from './support/openai-client.ts'

const input = ['How high is it?', 'And how wide?']
const request = { model: 'acme/river', input }

describe('embeddings in the OpenAI client', () => {
  test.each([
    ['base64, which it requests by default', vectors.map(base64Of)],
    ['numbers from a provider without base64', vectors],
  ])('are decoded from %s', async (_, received) => {
    await using scenario = await startOpenaiScenario(embeddingReply(received), { model })
    const { data, usage } = await scenario.openai.embeddings.create(request)
    expect(data.map(({ embedding }) => [...embedding])).toEqual(vectors)
    expect(usage).toEqual({ prompt_tokens: 5, total_tokens: 5 })
    expect(scenario.acme.requests[0]?.body).toMatchObject({ input, encoding_format: 'base64' })
  })

  test('are numbers where the caller requests numbers', async () => {
    await using scenario = await startOpenaiScenario(embeddingReply(vectors.map(base64Of)), { model })
    const { data } = await scenario.openai.embeddings.create({ ...request, encoding_format: 'float' })
    expect(data.map(({ embedding }) => embedding)).toEqual(vectors)
  })
})

const providers = {
  '@ai-sdk/openai-compatible': ({ url, key }: App) =>
    createOpenAICompatible({ name: 'weir', baseURL: `${url}/v1`, apiKey: key }).embeddingModel('acme/river'),
  '@ai-sdk/openai': ({ url, key }: App) =>
    createOpenAI({ baseURL: `${url}/v1`, apiKey: key }).embedding('acme/river'),
}

describe.each(Object.entries(providers))('embeddings in the AI SDK with %s', (_, modelOf) => {
  test('are those of all values, with the usage', async () => {
    await using scenario = await startScenario(embeddingReply(vectors), { model })
    const { embeddings, usage } = await embedMany({ model: modelOf(scenario.app), values: input })
    expect(embeddings).toEqual(vectors)
    expect(usage.tokens).toBe(5)
  })

  test('are that of one value', async () => {
    await using scenario = await startScenario(embeddingReply(vectors.slice(0, 1)), { model })
    expect((await embed({ model: modelOf(scenario.app), value: 'How high?' })).embedding).toEqual([
      0.5, -0.25, 1,
    ])
  })
})
