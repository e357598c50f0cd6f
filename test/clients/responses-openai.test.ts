import { describe, expect, test } from 'bun:test'
import { APIError, BadRequestError, NotFoundError } from 'openai'
import type { ResponseInputItem } from 'openai/resources/responses/responses'
import { chunks, delta, chatOutput, streamReply, jsonReply } from '../support/chat-fixtures.ts'
import { hang } from '../support/script.ts'
import { startOpenaiScenario } from './support/openai-client.ts'

const requested = { model: 'acme/river', input: 'How high is it?' }
const text = 'It is four metres.'
const thoughtful = chatOutput({ reasoning: ['A gauge ', 'would know.'] })

describe('a response in the OpenAI client', () => {
  test('has its output as text, and its usage', async () => {
    await using scenario = await startOpenaiScenario(jsonReply(thoughtful))
    const response = await scenario.openai.responses.create(requested)
    expect(response).toMatchObject({ object: 'response', model: 'acme/river', status: 'completed' })
    expect(response.output_text).toBe(text)
    expect(response.output.map(({ type }) => type)).toEqual(['reasoning', 'message'])
    expect(response.usage).toMatchObject({ input_tokens: 12, output_tokens: 5, total_tokens: 17 })
    expect(response._request_id).toStartWith('req_')
  })

  test('is parsed by its schema', async () => {
    await using scenario = await startOpenaiScenario(jsonReply(chatOutput({ text: ['{"metres"', ':4}'] })))
    const response = await scenario.openai.responses.parse({ ...requested, text: { format: heightFormat } })
    expect<unknown>(response.output_parsed).toEqual({ metres: 4 })
  })

  test('continues another by its id, and lists its input', async () => {
    await using scenario = await startOpenaiScenario(jsonReply())
    const first = await scenario.openai.responses.create(requested)
    const second = await scenario.openai.responses.create({
      ...requested,
      input: 'And now?',
      previous_response_id: first.id,
    })
    expect(scenario.acme.requests[1]?.body.messages).toMatchObject([
      { content: requested.input },
      { role: 'assistant', content: text },
      { content: 'And now?' },
    ])
    const items = await Array.fromAsync(scenario.openai.responses.inputItems.list(second.id))
    expect(items).toMatchObject([
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'And now?' }] },
    ])
  })

  test('takes its own output back as the next input', async () => {
    await using scenario = await startOpenaiScenario(jsonReply(thoughtful))
    const first = await scenario.openai.responses.create(requested)
    // Its types take an echo for more than it can be.
    const echo = first.output as ResponseInputItem[]
    const input = [{ role: 'user' as const, content: requested.input }, ...echo]
    const second = await scenario.openai.responses.create({ ...requested, input })
    expect(second.output_text).toBe(text)
    expect(second).not.toHaveProperty('warnings')
    expect(scenario.acme.requests[1]?.body.messages).toEqual([
      { role: 'user', content: requested.input },
      { role: 'assistant', content: text },
    ])
  })

  test('is retrieved and deleted', async () => {
    await using scenario = await startOpenaiScenario(jsonReply())
    const { responses } = scenario.openai
    const { _request_id, ...created } = await responses.create(requested)
    expect<object>(await responses.retrieve(created.id)).toMatchObject(created)
    await responses.delete(created.id)
    const gone = await responses.retrieve(created.id).catch((error: unknown) => error)
    expect(gone).toBeInstanceOf(NotFoundError)
    const again = await responses.delete(created.id).catch((error: unknown) => error)
    expect(again).toMatchObject({ status: 404, code: null })
  })
})

test('the input items of a response are listed page by page, in both orders', async () => {
  await using scenario = await startOpenaiScenario(jsonReply())
  const input = Array.from({ length: 50 }, (_, index) => ({ role: 'user' as const, content: `q${index}` }))
  const { id } = await scenario.openai.responses.create({ ...requested, input })
  for (const order of ['asc', 'desc'] as const) {
    const list = await Array.fromAsync(scenario.openai.responses.inputItems.list(id, { order, limit: 20 }))
    const output = list.flatMap((item) => ('content' in item ? JSON.stringify(item.content) : []))
    const expected = input.map(({ content }) => JSON.stringify([{ type: 'input_text', text: content }]))
    expect(output).toEqual(order === 'asc' ? expected : expected.toReversed())
  }
})

describe('a response stream in the OpenAI client', () => {
  test('is read event by event', async () => {
    await using scenario = await startOpenaiScenario(streamReply(thoughtful))
    const stream = await scenario.openai.responses.create({ ...requested, stream: true })
    const events = await Array.fromAsync(stream)
    expect(events.map((event) => event.sequence_number)).toEqual([...events.keys()])
    const pieces = events.flatMap((event) =>
      event.type === 'response.output_text.delta' ? [event.delta] : [],
    )
    expect(pieces).toEqual(['It is ', 'four metres.'])
    expect(events.at(-1)?.type).toBe('response.completed')
  })

  test('is verified and joined by the stream helper', async () => {
    await using scenario = await startOpenaiScenario(streamReply(thoughtful))
    const stream = scenario.openai.responses.stream(requested)
    let received = ''
    stream.on('response.output_text.delta', ({ delta }) => void (received += delta))
    const final = await stream.finalResponse()
    expect([received, final.output_text]).toEqual([text, text])
    expect<object>(await scenario.openai.responses.retrieve(final.id)).toMatchObject({
      id: final.id,
      status: 'completed',
      usage: final.usage,
    })
  })

  test('that is cut short is incomplete', async () => {
    await using scenario = await startOpenaiScenario(streamReply(chatOutput({ finish: 'length' })))
    const final = await scenario.openai.responses.stream(requested).finalResponse()
    expect(final).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    })
  })

  test('that breaks throws an APIError after its text', async () => {
    await using scenario = await startOpenaiScenario(chunks([delta({ content: 'It is ' })]))
    const stream = await scenario.openai.responses.create({ ...requested, stream: true })
    let received = ''
    const reading = (async () => {
      for await (const event of stream)
        if (event.type === 'response.output_text.delta') received += event.delta
    })()
    const error = await reading.catch((error: unknown) => error)
    expect(error).toBeInstanceOf(APIError)
    expect(error).toMatchObject({ code: 'upstream_unavailable', type: 'server_error' })
    expect(received).toBe('It is ')
  })

  test('is replayed from its start and from any sequence number', async () => {
    await using scenario = await startOpenaiScenario(streamReply(thoughtful))
    const { responses } = scenario.openai
    const events = await Array.fromAsync(await responses.create({ ...requested, stream: true }))
    const created = events[0]
    if (created?.type !== 'response.created') throw new Error('The first event is another one.')
    const { id } = created.response
    expect(await Array.fromAsync(await responses.retrieve(id, { stream: true }))).toEqual(events)
    const rest = await responses.retrieve(id, { stream: true, starting_after: 11 })
    expect(await Array.fromAsync(rest)).toEqual(events.slice(12))
    const helper = responses.stream({ response_id: id, starting_after: 11 })
    expect((await Array.fromAsync(helper)).map((event) => event.sequence_number)).toEqual(
      events.slice(12).map((event) => event.sequence_number),
    )
    expect((await helper.finalResponse()).output_text).toBe(text)
  })
})

describe('a background run in the OpenAI client', () => {
  test('is polled to its end', async () => {
    await using scenario = await startOpenaiScenario(streamReply())
    const { responses } = scenario.openai
    const queued = await responses.create({ ...requested, background: true })
    expect(queued).toMatchObject({ status: 'queued', background: true })
    const stream = await responses.retrieve(queued.id, { stream: true })
    const types = (await Array.fromAsync(stream)).map(({ type }) => type)
    expect(types.slice(0, 3)).toEqual(['response.created', 'response.queued', 'response.in_progress'])
    expect(types.at(-1)).toBe('response.completed')
    const done = await responses.retrieve(queued.id)
    expect([done.status, done.output_text]).toEqual(['completed', text])
  })

  test('is cancelled, twice with the same result, and keeps its output so far', async () => {
    await using scenario = await startOpenaiScenario(chunks([delta({ content: 'It is ' })], hang))
    const { responses } = scenario.openai
    const { id } = await responses.create({ ...requested, background: true })
    for await (const event of await responses.retrieve(id, { stream: true }))
      if (event.type === 'response.output_text.delta') break
    const cancelled = await responses.cancel(id)
    expect(cancelled).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'cancelled' } })
    expect(JSON.stringify(cancelled.output)).toContain('It is ')
    expect((await responses.cancel(id)).status).toBe('incomplete')
    expect(await scenario.acme.requests[0]?.aborted).toBe(true)
    await responses.delete(id)
  })
})

test.each<[string, object, new (...args: never[]) => APIError, object]>([
  ['a wrong value', { temperature: 9 }, BadRequestError, { param: 'temperature' }],
  ['a tool', { tools: [{ type: 'web_search' }] }, BadRequestError, { code: 'unsupported_parameter' }],
  ['an unknown model', { model: 'acme/sea' }, NotFoundError, { code: 'model_not_found' }],
  [
    'an unknown response before it',
    { previous_response_id: 'resp_1' },
    BadRequestError,
    { code: 'previous_response_not_found' },
  ],
])('%s throws the expected error', async (_, body, kind, facts) => {
  await using scenario = await startOpenaiScenario(jsonReply())
  const error = await scenario.openai.responses
    .create({ ...requested, ...body })
    .catch((error: unknown) => error)
  expect(error).toBeInstanceOf(kind)
  expect(error).toMatchObject(facts)
})

const heightFormat = {
  type: 'json_schema' as const,
  name: 'height',
  strict: true,
  schema: { type: 'object', properties: { metres: { type: 'number' } } },
}
