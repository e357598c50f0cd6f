import { describe, expect, test } from 'bun:test'
import {
  APIError,
  APIUserAbortError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
} from 'openai'
import { chunks, delta, streamReply, jsonReply } from '../support/chat-fixtures.ts'
import { breakOff, hang, json, silence } from '../support/script.ts'
import {
  openaiRequest,
  countingOpenaiClient,
  openaiClient,
  startOpenaiScenario,
} from './support/openai-client.ts'

describe('the OpenAI client throws the error of the status:', () => {
  test('an AuthenticationError for a wrong key', async () => {
    await using scenario = await startOpenaiScenario(jsonReply())
    const wrong = openaiClient(scenario.app, { key: 'sk-weir-Wrong0000000-WrongWrongWrongWrongWrongWrong00' })
    const error = await errorOf(wrong.chat.completions.create(openaiRequest))
    expect(error).toBeInstanceOf(AuthenticationError)
    expect(error).toMatchObject({ status: 401, type: 'invalid_request_error', code: 'invalid_api_key' })
    expect(scenario.acme.requests).toEqual([])
  })

  test('a NotFoundError for an unknown model, also when it is retrieved', async () => {
    await using scenario = await startOpenaiScenario(jsonReply())
    const calls = [
      () => scenario.openai.chat.completions.create({ ...openaiRequest, model: 'acme/sea' }),
      () => scenario.openai.models.retrieve('acme/sea'),
    ]
    for (const call of calls) {
      const error = await errorOf(call())
      expect(error).toBeInstanceOf(NotFoundError)
      expect(error).toMatchObject({ status: 404, code: 'model_not_found', param: 'model' })
    }
  })

  test('a BadRequestError for a wrong parameter, which it names', async () => {
    await using scenario = await startOpenaiScenario(jsonReply())
    const error = await errorOf(scenario.openai.chat.completions.create({ ...openaiRequest, temperature: 3 }))
    expect(error).toBeInstanceOf(BadRequestError)
    expect(error).toMatchObject({ status: 400, type: 'invalid_request_error', param: 'temperature' })
    expect(error.code).toBeString()
    expect(error.message).toContain("'temperature'")
    expect(error.requestID).toStartWith('req_')
  })
})

describe.each([
  ['not streamed', false],
  ['streamed', true],
] as const)('a provider that fails before its first token (%s)', (_, stream) => {
  test('is an InternalServerError after the retries of the OpenAI client', async () => {
    await using scenario = await startOpenaiScenario(json({ error: { message: 'Down.' } }, { status: 503 }))
    const { openai, sent } = countingOpenaiClient(scenario.app, { retries: 1 })
    const error = await errorOf(openai.chat.completions.create({ ...openaiRequest, stream }))
    expect(error).toBeInstanceOf(InternalServerError)
    expect(error).toMatchObject({ status: 502, type: 'server_error', code: 'upstream_unavailable' })
    expect(sent()).toBe(2)
  })

  test('for lack of a valid key is not retried by the OpenAI client', async () => {
    await using scenario = await startOpenaiScenario(
      json({ error: { message: 'Wrong key.' } }, { status: 401 }),
    )
    const { openai, sent } = countingOpenaiClient(scenario.app, { retries: 3 })
    const error = await errorOf(openai.chat.completions.create({ ...openaiRequest, stream }))
    expect(error).toBeInstanceOf(InternalServerError)
    expect(error).toMatchObject({ status: 502, code: 'provider_key_rejected' })
    expect(error.headers?.get('x-should-retry')).toBe('false')
    expect(sent()).toBe(1)
    expect(scenario.acme.requests).toHaveLength(1)
  })
})

const beginning = [delta({ role: 'assistant', content: '' }), delta({ content: 'It is ' })]

describe('a stream that breaks after its start', () => {
  test('throws an APIError in the OpenAI client, after its text', async () => {
    const output = Promise.withResolvers<void>()
    await using scenario = await startOpenaiScenario(chunks([...beginning, output.promise], breakOff))
    const stream = await scenario.openai.chat.completions.create({ ...openaiRequest, stream: true })
    const received: string[] = []
    const reading = (async () => {
      for await (const chunk of stream) {
        received.push(chunk.choices[0]?.delta.content ?? '')
        if (chunk.choices[0]?.delta.content) output.resolve()
      }
    })()
    const error = await errorOf(reading)
    expect(error).toMatchObject({ type: 'server_error', code: 'upstream_unavailable' })
    expect(received.join('')).toBe('It is ')
  })

  test('is not a completion for the stream helper', async () => {
    const output = Promise.withResolvers<void>()
    await using scenario = await startOpenaiScenario(chunks([...beginning, output.promise], breakOff))
    const stream = scenario.openai.chat.completions.stream(openaiRequest)
    stream.on('content', () => output.resolve())
    expect(await errorOf(stream.finalChatCompletion())).toMatchObject({ code: 'upstream_unavailable' })
    expect(stream.errored).toBe(true)
  })
})

describe('an OpenAI client that disconnects aborts the upstream call', () => {
  test('in the middle of a stream', async () => {
    await using scenario = await startOpenaiScenario(chunks(beginning, hang))
    const stream = await scenario.openai.chat.completions.create({ ...openaiRequest, stream: true })
    for await (const { choices } of stream) {
      if (choices[0]?.delta.content) stream.controller.abort()
    }
    const call = await scenario.acme.request(0)
    expect(await call.aborted).toBe(true)
  })

  test.each([false, true])('before any output, streamed: %p', async (stream) => {
    await using scenario = await startOpenaiScenario(silence)
    const aborting = new AbortController()
    const { signal } = aborting
    const calling = errorOf(scenario.openai.chat.completions.create({ ...openaiRequest, stream }, { signal }))
    const call = await scenario.acme.request(0)
    aborting.abort()
    expect(await call.aborted).toBe(true)
    expect(await calling).toBeInstanceOf(APIUserAbortError)
  })
})

test('a stream that was read to its end does not count as aborted', async () => {
  await using scenario = await startOpenaiScenario(streamReply())
  const stream = await scenario.openai.chat.completions.create({ ...openaiRequest, stream: true })
  await Array.fromAsync(stream)
  const call = await scenario.acme.request(0)
  expect(await call.aborted).toBe(false)
})

/** What the promise is rejected with; fails where it is not an error of the client. */
async function errorOf(promise: PromiseLike<unknown>): Promise<APIError> {
  try {
    await promise
  } catch (error) {
    if (error instanceof APIError) return error
    throw error
  }
  throw new Error('There was no error.')
}
