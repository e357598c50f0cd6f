import { type OpenAI, NotFoundError } from 'openai'
import { describe, expect, test } from 'bun:test'
import { streamReply, jsonReply } from '../support/chat-fixtures.ts'
import { openaiRequest, startOpenaiScenario } from './support/openai-client.ts'

const kept = { ...openaiRequest, store: true, metadata: { topic: 'rivers', 'a.b[c]': 'x & y' } }

describe('a stored completion in the OpenAI client', () => {
  test('is retrieved, updated and deleted', async () => {
    await using scenario = await startOpenaiScenario(jsonReply())
    const { completions } = scenario.openai.chat
    const received = await completions.create(kept)
    expect(await completions.retrieve(received.id)).toEqual({ ...received, metadata: kept.metadata })
    const updated = await completions.update(received.id, { metadata: { topic: 'lakes' } })
    expect(updated.metadata).toEqual({ topic: 'lakes' })
    expect(await completions.delete(received.id)).toMatchObject({ id: received.id, deleted: true })
    const gone = await completions.retrieve(received.id).catch((error: unknown) => error)
    expect(gone).toBeInstanceOf(NotFoundError)
  })

  test('that was streamed is retrieved by the id of its chunks', async () => {
    await using scenario = await startOpenaiScenario(streamReply())
    const { completions } = scenario.openai.chat
    const chunks = await Array.fromAsync(await completions.create({ ...kept, stream: true }))
    const found = await completions.retrieve(chunks[0]?.id ?? '')
    expect(found.choices[0]?.message.content).toBe('It is four metres.')
    expect(found.metadata).toEqual(kept.metadata)
  })

  test('is found by its model and its metadata', async () => {
    await using scenario = await startOpenaiScenario(jsonReply())
    const { completions } = scenario.openai.chat
    const { id } = await completions.create(kept)
    await completions.create({ ...openaiRequest, store: true })
    const idsOf = async (query: OpenAI.ChatCompletionListParams) =>
      (await completions.list(query)).data.map((completion) => completion.id)
    expect(await idsOf({ metadata: kept.metadata })).toEqual([id])
    expect(await idsOf({ metadata: kept.metadata, model: 'acme/river' })).toEqual([id])
    expect(await idsOf({ metadata: { topic: 'lakes' } })).toEqual([])
    expect(await idsOf({ model: 'acme/river' })).toHaveLength(2)
  })

  test('lists its messages, page by page', async () => {
    await using scenario = await startOpenaiScenario(jsonReply())
    const { completions } = scenario.openai.chat
    const messages = Array.from({ length: 45 }, (_, index) => ({
      role: 'user' as const,
      content: `Say ${index}.`,
    }))
    const { id } = await completions.create({ ...kept, messages })
    for (const order of ['asc', 'desc'] as const) {
      const found = await Array.fromAsync(completions.messages.list(id, { order }))
      const expected = order === 'asc' ? messages : messages.toReversed()
      expect(found.map(({ content }) => content)).toEqual(expected.map(({ content }) => content))
    }
  })
})

test('of 250 is listed once, in both orders', async () => {
  await using scenario = await startOpenaiScenario(jsonReply())
  const { completions } = scenario.openai.chat
  const made = Array.from({ length: 250 }, () => completions.create(kept))
  const ids = (await Promise.all(made)).map(({ id }) => id).toSorted()
  for (const order of ['asc', 'desc'] as const) {
    for (const query of [{}, { limit: 100 }, { metadata: { topic: 'rivers' } }]) {
      const listed = await Array.fromAsync(completions.list({ order, ...query }))
      expect(listed.map(({ id }) => id)).toEqual(order === 'asc' ? ids : ids.toReversed())
    }
  }
})
