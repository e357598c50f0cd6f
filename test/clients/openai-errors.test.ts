import { describe, expect, test } from 'bun:test'
import {
  APIError,
  APIUserAbortError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
} from 'openai'
import { chunks, delta, streamed, whole } from '../support/chat-answers.ts'
import { breakOff, hang, json, silence } from '../support/script.ts'
import { asked, countingOpenaiOf, openaiOf, startWithOpenai } from './support/openai-client.ts'

describe('the OpenAI client throws the error of the status:', () => {
  test('an AuthenticationError for a wrong key', async () => {
    await using world = await startWithOpenai(whole())
    const wrong = openaiOf(world.app, { key: 'sk-weir-Wrong0000000-WrongWrongWrongWrongWrongWrong00' })
    const error = await errorOf(wrong.chat.completions.create(asked))
    expect(error).toBeInstanceOf(AuthenticationError)
    expect(error).toMatchObject({ status: 401, type: 'invalid_request_error', code: 'invalid_api_key' })
    expect(world.acme.requests).toEqual([])
  })

  test('a NotFoundError for an unknown model, also when it is retrieved', async () => {
    await using world = await startWithOpenai(whole())
    const calls = [
      () => world.openai.chat.completions.create({ ...asked, model: 'acme/sea' }),
      () => world.openai.models.retrieve('acme/sea'),
    ]
    for (const call of calls) {
      const error = await errorOf(call())
      expect(error).toBeInstanceOf(NotFoundError)
      expect(error).toMatchObject({ status: 404, code: 'model_not_found', param: 'model' })
    }
  })

  test('a BadRequestError for a wrong parameter, which it names', async () => {
    await using world = await startWithOpenai(whole())
    const error = await errorOf(world.openai.chat.completions.create({ ...asked, temperature: 3 }))
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
    await using world = await startWithOpenai(json({ error: { message: 'Down.' } }, { status: 503 }))
    const { openai, sent } = countingOpenaiOf(world.app, { retries: 1 })
    const error = await errorOf(openai.chat.completions.create({ ...asked, stream }))
    expect(error).toBeInstanceOf(InternalServerError)
    expect(error).toMatchObject({ status: 502, type: 'server_error', code: 'upstream_unavailable' })
    expect(sent()).toBe(2)
  })

  test('for lack of a valid key is not retried by the OpenAI client', async () => {
    await using world = await startWithOpenai(json({ error: { message: 'Wrong key.' } }, { status: 401 }))
    const { openai, sent } = countingOpenaiOf(world.app, { retries: 3 })
    const error = await errorOf(openai.chat.completions.create({ ...asked, stream }))
    expect(error).toBeInstanceOf(InternalServerError)
    expect(error).toMatchObject({ status: 502, code: 'provider_key_rejected' })
    expect(error.headers?.get('x-should-retry')).toBe('false')
    expect(sent()).toBe(1)
    expect(world.acme.requests).toHaveLength(1)
  })
})

const beginning = [delta({ role: 'assistant', content: '' }), delta({ content: 'It is ' })]

describe('a stream that breaks after its start', () => {
  test('throws an APIError in the OpenAI client, after its text', async () => {
    const said = Promise.withResolvers<void>()
    await using world = await startWithOpenai(chunks([...beginning, said.promise], breakOff))
    const stream = await world.openai.chat.completions.create({ ...asked, stream: true })
    const heard: string[] = []
    const reading = (async () => {
      for await (const chunk of stream) {
        heard.push(chunk.choices[0]?.delta.content ?? '')
        if (chunk.choices[0]?.delta.content) said.resolve()
      }
    })()
    const error = await errorOf(reading)
    expect(error).toMatchObject({ type: 'server_error', code: 'upstream_unavailable' })
    expect(heard.join('')).toBe('It is ')
  })

  test('is not a completion for the stream helper', async () => {
    const said = Promise.withResolvers<void>()
    await using world = await startWithOpenai(chunks([...beginning, said.promise], breakOff))
    const stream = world.openai.chat.completions.stream(asked)
    stream.on('content', () => said.resolve())
    expect(await errorOf(stream.finalChatCompletion())).toMatchObject({ code: 'upstream_unavailable' })
    expect(stream.errored).toBe(true)
  })
})

describe('an OpenAI client that disconnects aborts the upstream call', () => {
  test('in the middle of a stream', async () => {
    await using world = await startWithOpenai(chunks(beginning, hang))
    const stream = await world.openai.chat.completions.create({ ...asked, stream: true })
    for await (const { choices } of stream) {
      if (choices[0]?.delta.content) stream.controller.abort()
    }
    const call = await world.acme.request(0)
    expect(await call.left).toBe(true)
  })

  test.each([false, true])('before any output, streamed: %p', async (stream) => {
    await using world = await startWithOpenai(silence)
    const leaving = new AbortController()
    const { signal } = leaving
    const calling = errorOf(world.openai.chat.completions.create({ ...asked, stream }, { signal }))
    const call = await world.acme.request(0)
    leaving.abort()
    expect(await call.left).toBe(true)
    expect(await calling).toBeInstanceOf(APIUserAbortError)
  })
})

test('a stream that was read to its end does not count as aborted', async () => {
  await using world = await startWithOpenai(streamed())
  const stream = await world.openai.chat.completions.create({ ...asked, stream: true })
  await Array.fromAsync(stream)
  const call = await world.acme.request(0)
  expect(await call.left).toBe(false)
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
