import { describe, expect, test } from 'bun:test'
import { APIError, BadRequestError, NotFoundError } from 'openai'
import type { ResponseInputItem } from 'openai/resources/responses/responses'
import { chunks, delta, said, streamed, whole } from '../support/chat-answers.ts'
import { hang } from '../support/script.ts'
import { startWithOpenai } from './support/openai-client.ts'

const asked = { model: 'acme/river', input: 'How high is it?' }
const text = 'It is four metres.'
const thoughtful = said({ reasoning: ['A gauge ', 'would know.'] })

describe('a response in the OpenAI client', () => {
  test('has its output as text, and its usage', async () => {
    await using world = await startWithOpenai(whole(thoughtful))
    const response = await world.openai.responses.create(asked)
    expect(response).toMatchObject({ object: 'response', model: 'acme/river', status: 'completed' })
    expect(response.output_text).toBe(text)
    expect(response.output.map(({ type }) => type)).toEqual(['reasoning', 'message'])
    expect(response.usage).toMatchObject({ input_tokens: 12, output_tokens: 5, total_tokens: 17 })
    expect(response._request_id).toStartWith('req_')
  })

  test('is parsed by its schema', async () => {
    await using world = await startWithOpenai(whole(said({ text: ['{"metres"', ':4}'] })))
    const response = await world.openai.responses.parse({ ...asked, text: { format: heightFormat } })
    expect<unknown>(response.output_parsed).toEqual({ metres: 4 })
  })

  test('continues another by its id, and lists its input', async () => {
    await using world = await startWithOpenai(whole())
    const first = await world.openai.responses.create(asked)
    const second = await world.openai.responses.create({
      ...asked,
      input: 'And now?',
      previous_response_id: first.id,
    })
    expect(world.acme.requests[1]?.body.messages).toMatchObject([
      { content: asked.input },
      { role: 'assistant', content: text },
      { content: 'And now?' },
    ])
    const items = await Array.fromAsync(world.openai.responses.inputItems.list(second.id))
    expect(items).toMatchObject([
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'And now?' }] },
    ])
  })

  test('takes its own output back as the next input', async () => {
    await using world = await startWithOpenai(whole(thoughtful))
    const first = await world.openai.responses.create(asked)
    // Its types take an echo for more than it can be.
    const echo = first.output as ResponseInputItem[]
    const input = [{ role: 'user' as const, content: asked.input }, ...echo]
    const second = await world.openai.responses.create({ ...asked, input })
    expect(second.output_text).toBe(text)
    expect(second).not.toHaveProperty('warnings')
    expect(world.acme.requests[1]?.body.messages).toEqual([
      { role: 'user', content: asked.input },
      { role: 'assistant', content: text },
    ])
  })

  test('is retrieved and deleted', async () => {
    await using world = await startWithOpenai(whole())
    const { responses } = world.openai
    const { _request_id, ...created } = await responses.create(asked)
    expect<object>(await responses.retrieve(created.id)).toMatchObject(created)
    await responses.delete(created.id)
    const gone = await responses.retrieve(created.id).catch((error: unknown) => error)
    expect(gone).toBeInstanceOf(NotFoundError)
    const again = await responses.delete(created.id).catch((error: unknown) => error)
    expect(again).toMatchObject({ status: 404, code: null })
  })
})

test('the input items of a response are listed page by page, in both orders', async () => {
  await using world = await startWithOpenai(whole())
  const input = Array.from({ length: 50 }, (_, index) => ({ role: 'user' as const, content: `q${index}` }))
  const { id } = await world.openai.responses.create({ ...asked, input })
  for (const order of ['asc', 'desc'] as const) {
    const list = await Array.fromAsync(world.openai.responses.inputItems.list(id, { order, limit: 20 }))
    const said = list.flatMap((item) => ('content' in item ? JSON.stringify(item.content) : []))
    const expected = input.map(({ content }) => JSON.stringify([{ type: 'input_text', text: content }]))
    expect(said).toEqual(order === 'asc' ? expected : expected.toReversed())
  }
})

describe('a response stream in the OpenAI client', () => {
  test('is read event by event', async () => {
    await using world = await startWithOpenai(streamed(thoughtful))
    const stream = await world.openai.responses.create({ ...asked, stream: true })
    const events = await Array.fromAsync(stream)
    expect(events.map((event) => event.sequence_number)).toEqual([...events.keys()])
    const pieces = events.flatMap((event) =>
      event.type === 'response.output_text.delta' ? [event.delta] : [],
    )
    expect(pieces).toEqual(['It is ', 'four metres.'])
    expect(events.at(-1)?.type).toBe('response.completed')
  })

  test('is verified and joined by the stream helper', async () => {
    await using world = await startWithOpenai(streamed(thoughtful))
    const stream = world.openai.responses.stream(asked)
    let heard = ''
    stream.on('response.output_text.delta', ({ delta }) => void (heard += delta))
    const final = await stream.finalResponse()
    expect([heard, final.output_text]).toEqual([text, text])
    expect<object>(await world.openai.responses.retrieve(final.id)).toMatchObject({
      id: final.id,
      status: 'completed',
      usage: final.usage,
    })
  })

  test('that is cut short is incomplete', async () => {
    await using world = await startWithOpenai(streamed(said({ finish: 'length' })))
    const final = await world.openai.responses.stream(asked).finalResponse()
    expect(final).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    })
  })

  test('that breaks throws an APIError after its text', async () => {
    await using world = await startWithOpenai(chunks([delta({ content: 'It is ' })]))
    const stream = await world.openai.responses.create({ ...asked, stream: true })
    let heard = ''
    const reading = (async () => {
      for await (const event of stream) if (event.type === 'response.output_text.delta') heard += event.delta
    })()
    const error = await reading.catch((error: unknown) => error)
    expect(error).toBeInstanceOf(APIError)
    expect(error).toMatchObject({ code: 'upstream_unavailable', type: 'server_error' })
    expect(heard).toBe('It is ')
  })

  test('is replayed from its start and from any sequence number', async () => {
    await using world = await startWithOpenai(streamed(thoughtful))
    const { responses } = world.openai
    const events = await Array.fromAsync(await responses.create({ ...asked, stream: true }))
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
    await using world = await startWithOpenai(streamed())
    const { responses } = world.openai
    const queued = await responses.create({ ...asked, background: true })
    expect(queued).toMatchObject({ status: 'queued', background: true })
    const stream = await responses.retrieve(queued.id, { stream: true })
    const types = (await Array.fromAsync(stream)).map(({ type }) => type)
    expect(types.slice(0, 3)).toEqual(['response.created', 'response.queued', 'response.in_progress'])
    expect(types.at(-1)).toBe('response.completed')
    const done = await responses.retrieve(queued.id)
    expect([done.status, done.output_text]).toEqual(['completed', text])
  })

  test('is cancelled, twice with the same result, and keeps its output so far', async () => {
    await using world = await startWithOpenai(chunks([delta({ content: 'It is ' })], hang))
    const { responses } = world.openai
    const { id } = await responses.create({ ...asked, background: true })
    for await (const event of await responses.retrieve(id, { stream: true }))
      if (event.type === 'response.output_text.delta') break
    const cancelled = await responses.cancel(id)
    expect(cancelled).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'cancelled' } })
    expect(JSON.stringify(cancelled.output)).toContain('It is ')
    expect((await responses.cancel(id)).status).toBe('incomplete')
    expect(await world.acme.requests[0]?.left).toBe(true)
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
  await using world = await startWithOpenai(whole())
  const error = await world.openai.responses.create({ ...asked, ...body }).catch((error: unknown) => error)
  expect(error).toBeInstanceOf(kind)
  expect(error).toMatchObject(facts)
})

const heightFormat = {
  type: 'json_schema' as const,
  name: 'height',
  strict: true,
  schema: { type: 'object', properties: { metres: { type: 'number' } } },
}
