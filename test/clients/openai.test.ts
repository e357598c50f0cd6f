import { describe, expect, test } from 'bun:test'
import { chatOutput, streamReply, usage, jsonReply } from '../support/chat-fixtures.ts'
import { openaiRequest, startOpenaiScenario } from './support/openai-client.ts'

const text = 'It is four metres.'

describe('a completion in the OpenAI client', () => {
  test('has the text, the requested model and the usage', async () => {
    await using scenario = await startOpenaiScenario(jsonReply())
    const completion = await scenario.openai.chat.completions.create(openaiRequest)
    expect(completion).toMatchObject({ object: 'chat.completion', model: 'acme/river', usage })
    expect(completion.id).toStartWith('chatcmpl-')
    expect(completion.choices.map(({ message }) => message.content)).toEqual([text])
    expect(completion.choices[0]).toMatchObject({ finish_reason: 'stop', logprobs: null })
  })

  test('has its request id', async () => {
    await using scenario = await startOpenaiScenario(jsonReply())
    const completion = await scenario.openai.chat.completions.create(openaiRequest)
    expect(completion._request_id).toStartWith('req_')
    const { request_id } = await scenario.openai.chat.completions.create(openaiRequest).withResponse()
    expect(request_id).toStartWith('req_')
    expect(request_id).not.toBe(completion._request_id ?? null)
  })

  test('has all of several choices', async () => {
    const choices = ['Four.', 'Five.'].map((piece) => ({ text: [piece], finish: 'stop' }))
    await using scenario = await startOpenaiScenario(jsonReply({ choices, usage }))
    const completion = await scenario.openai.chat.completions.create({ ...openaiRequest, n: 2 })
    expect(completion.choices.map(({ index, message }) => [index, message.content])).toEqual([
      [0, 'Four.'],
      [1, 'Five.'],
    ])
  })

  test('sends an image to the provider', async () => {
    await using scenario = await startOpenaiScenario(jsonReply())
    const url = 'data:image/png;base64,iVBORw0KGgo='
    const content = [
      { type: 'text' as const, text: 'What is this?' },
      { type: 'image_url' as const, image_url: { url, detail: 'low' as const } },
    ]
    await scenario.openai.chat.completions.create({ ...openaiRequest, messages: [{ role: 'user', content }] })
    expect(scenario.acme.requests[0]?.body.messages).toEqual([{ role: 'user', content }])
  })

  test('is parsed by its schema', async () => {
    await using scenario = await startOpenaiScenario(jsonReply(chatOutput({ text: ['{"metres"', ':4}'] })))
    const completion = await scenario.openai.chat.completions.parse({
      ...openaiRequest,
      response_format: heightFormat,
    })
    expect<unknown>(completion.choices[0]?.message.parsed).toEqual({ metres: 4 })
    expect(scenario.acme.requests[0]?.body.response_format).toEqual(heightFormat)
  })
})

describe('a streamed completion in the OpenAI client', () => {
  test('is read chunk by chunk', async () => {
    await using scenario = await startOpenaiScenario(streamReply())
    const stream = await scenario.openai.chat.completions.create({ ...openaiRequest, stream: true })
    const chunks = await Array.fromAsync(stream)
    const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta.content ?? ''))
    expect(deltas.filter((piece) => piece !== '')).toEqual(['It is ', 'four metres.'])
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1)
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('stop')
    expect(chunks.every((chunk) => chunk.usage === undefined)).toBe(true)
  })

  test('has its usage last where that is requested', async () => {
    await using scenario = await startOpenaiScenario(streamReply())
    const stream_options = { include_usage: true }
    const stream = await scenario.openai.chat.completions.create({
      ...openaiRequest,
      stream: true,
      stream_options,
    })
    const chunks = await Array.fromAsync(stream)
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage })
    expect(chunks.slice(0, -1).every((chunk) => chunk.usage === null)).toBe(true)
  })

  test('is joined by the stream helper', async () => {
    await using scenario = await startOpenaiScenario(streamReply())
    const stream_options = { include_usage: true }
    const stream = scenario.openai.chat.completions.stream({ ...openaiRequest, stream_options })
    let received = ''
    stream.on('content', (piece) => void (received += piece))
    const completion = await stream.finalChatCompletion()
    expect(received).toBe(text)
    expect(completion.choices[0]?.message).toMatchObject({ role: 'assistant', content: text })
    expect(completion.choices[0]?.finish_reason).toBe('stop')
    expect(completion).toMatchObject({ model: 'acme/river', usage })
  })

  test('is parsed by its schema in the stream helper', async () => {
    await using scenario = await startOpenaiScenario(streamReply(chatOutput({ text: ['{"metres"', ':4}'] })))
    const stream = scenario.openai.chat.completions.stream({
      ...openaiRequest,
      response_format: heightFormat,
    })
    const completion = await stream.finalChatCompletion()
    expect<unknown>(completion.choices[0]?.message.parsed).toEqual({ metres: 4 })
  })
})

describe('the models in the OpenAI client', () => {
  test('are listed', async () => {
    await using scenario = await startOpenaiScenario(jsonReply(), { models: [{ slug: 'acme/lake', routes }] })
    const models = await Array.fromAsync(scenario.openai.models.list())
    expect(models.map(({ id }) => id).toSorted()).toEqual(['acme/lake', 'acme/river'])
    expect(models[0]).toMatchObject({ object: 'model', owned_by: 'acme' })
  })

  test('are retrieved, although their ids have a slash', async () => {
    await using scenario = await startOpenaiScenario(jsonReply())
    const model = await scenario.openai.models.retrieve('acme/river')
    expect(model).toMatchObject({ id: 'acme/river', object: 'model' })
    expect(model._request_id).toStartWith('req_')
  })
})

const routes = [{ provider: 'acme', model: 'lake-1' }]

const heightFormat = {
  type: 'json_schema' as const,
  json_schema: {
    name: 'height',
    strict: true,
    schema: {
      type: 'object',
      properties: { metres: { type: 'number' } },
      required: ['metres'],
      additionalProperties: false,
    },
  },
}
