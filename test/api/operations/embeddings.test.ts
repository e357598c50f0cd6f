import { describe, expect, test } from 'bun:test'
import { readError } from '../../support/chat-reply.ts'
import { startScenario } from '../../support/scenario.ts'
import { events, json } from '../../support/script.ts'
import {
  base64Of,
  embed,
  embeddingModel as model,
  embeddingReply,
  embeddingRequest,
  embeddingsOf,
  vectors,
} from '../support/embeddings.ts'

const two = { ...embeddingRequest, input: ['How high is it?', 'And how wide?'] }

test('an embedding request returns an embedding for each input, under the slug of the model', async () => {
  await using scenario = await startScenario(embeddingReply(vectors), { model })
  const reply = await embed(scenario.app, two)
  expect(reply.status).toBe(200)
  expect(reply.headers.get('content-type')).toContain('application/json')
  expect(reply.headers.get('x-request-id')).toStartWith('req_')
  expect(reply.headers.get('x-ratelimit-remaining-requests')).not.toBeNull()
  expect(await reply.json()).toEqual({
    object: 'list',
    data: [
      { object: 'embedding', index: 0, embedding: [0.5, -0.25, 1] },
      { object: 'embedding', index: 1, embedding: [2, 0, -4] },
    ],
    model: 'acme/river',
    usage: { prompt_tokens: 5, total_tokens: 5 },
    provider: 'acme',
  })
})

test('the provider receives the request as the client wrote it, with its own model and without labels', async () => {
  await using scenario = await startScenario(embeddingReply(vectors), { model })
  const request = { ...two, dimensions: 3, encoding_format: 'float', user: 'mia', input_type: 'query' }
  const labels = { tags: ['a'], trace: { id: 'trace-1' }, route: 'fallback', Input: ['more'] }
  const { warnings } = await embeddingsOf(scenario.app, { ...request, ...labels })
  const [received] = scenario.acme.requests
  expect(received?.path).toBe('/v1/embeddings')
  expect(received?.body).toEqual({ ...request, model: 'river-1' })
  expect(warnings).toEqual(['Parameters `route` and `Input` are not supported and were ignored.'])
})

describe('the format of an embedding is the requested one', () => {
  const base64 = vectors.map(base64Of)

  test.each([
    ['numbers for numbers', 'float', vectors, vectors],
    ['base64 for base64', 'base64', base64, base64],
    ['base64 where the provider returns numbers', 'base64', vectors, base64],
    ['numbers where the provider returns base64', 'float', base64, vectors],
    ['numbers by default', null, base64, vectors],
  ])('%s', async (_, format, received, returned) => {
    await using scenario = await startScenario(embeddingReply(received), { model })
    const { data } = await embeddingsOf(scenario.app, { ...two, encoding_format: format })
    expect<unknown>(data.map(({ embedding }) => embedding)).toEqual(returned)
  })
})

test('embeddings in another order are returned in the order of the inputs', async () => {
  const data = [
    { index: 1, embedding: [1] },
    { index: 0, embedding: [0.5] },
  ]
  await using scenario = await startScenario(json({ data, usage: { prompt_tokens: 2 } }), { model })
  const reply = await embeddingsOf(scenario.app, two)
  expect(reply.data.map(({ index, embedding }) => [index, embedding])).toEqual([
    [0, [0.5]],
    [1, [1]],
  ])
})

test('token ids are sent as they are', async () => {
  await using scenario = await startScenario(embeddingReply(vectors), { model })
  const input = [[1, 2, 3], [4]]
  expect((await embeddingsOf(scenario.app, { ...two, input })).data).toHaveLength(2)
  expect(scenario.acme.requests[0]?.body.input).toEqual(input)
})

test('a provider that ignores the dimensions causes a warning', async () => {
  await using scenario = await startScenario(embeddingReply(vectors), { model })
  for (const encoding_format of ['float', 'base64']) {
    const { warnings } = await embeddingsOf(scenario.app, { ...two, dimensions: 2, encoding_format })
    expect(warnings).toEqual([
      'The embeddings of acme/river have 3 dimensions: `dimensions` was ignored by its provider.',
    ])
  }
  expect(await embeddingsOf(scenario.app, { ...two, dimensions: 3 })).not.toHaveProperty('warnings')
})

describe('a reply that does not match its request is a 502, and costs nothing', () => {
  const entry = (index: unknown, embedding: unknown) => ({ object: 'embedding', index, embedding })
  test.each([
    ['too few embeddings', [entry(0, [1])]],
    ['too many embeddings', [entry(0, [1]), entry(1, [1]), entry(2, [1])]],
    ['an index twice', [entry(0, [1]), entry(0, [2])]],
    ['an index beyond the inputs', [entry(0, [1]), entry(2, [2])]],
    ['an index that is no number', [entry('0', [1]), entry(1, [2])]],
    ['an empty embedding', [entry(0, []), entry(1, [2])]],
    ['text in an embedding', [entry(0, ['1']), entry(1, [2])]],
    ['lists in an embedding', [entry(0, [[1]]), entry(1, [[2]])]],
    ['base64 that ends within a number', [entry(0, 'AAAA'), entry(1, 'AAAA')]],
    ['no embedding', [entry(0, null), entry(1, null)]],
    ['no list', null],
  ])('with %s', async (_, data) => {
    const reply = json({ object: 'list', data, usage: { prompt_tokens: 5, total_tokens: 5 } })
    await using scenario = await startScenario(reply, { model: { ...model, pricing: { input: 1 } } })
    const response = await embed(scenario.app, two)
    expect(response.headers.get('x-weir-cost')).toBeNull()
    expect(await readError(response)).toMatchObject({ status: 502, code: 'upstream_unavailable' })
    expect(await scenario.app.requestLines.of(response)).toMatchObject({ status: 502, model: 'acme/river' })
  })

  test('and another route is tried', async () => {
    const wrong = embeddingReply(vectors.slice(1))
    await using scenario = await startScenario(wrong, { model, other: [embeddingReply(vectors)] })
    const reply = await embeddingsOf(scenario.app, two)
    expect(reply.provider).toBe('other')
    expect(reply.data).toHaveLength(2)
  })
})

test('an event stream in place of embeddings is a 502', async () => {
  await using scenario = await startScenario(events(['data: {}\n\n', 'data: [DONE]\n\n']), { model })
  expect(await readError(await embed(scenario.app, two))).toMatchObject({ status: 502 })
})

test('an error of the provider is reported in its own words, without the key', async () => {
  const error = { message: 'This model takes at most 8192 tokens.', type: 'invalid_request_error' }
  await using scenario = await startScenario(json({ error }, { status: 400 }), { model })
  expect(await readError(await embed(scenario.app, two))).toMatchObject({
    status: 400,
    message: expect.stringContaining('at most 8192 tokens'),
  })
})

test('the request log, the metrics and the usage name the API', async () => {
  await using scenario = await startScenario(embeddingReply(vectors), { model })
  const reply = await embed(scenario.app, { ...two, user: 'mia' })
  expect(await scenario.app.requestLines.of(reply)).toMatchObject({ status: 200, model: 'acme/river' })
  const metrics = await (await scenario.app.request('/metrics')).text()
  expect(metrics).toContain('gen_ai_operation_name="embeddings"')
  expect(metrics).not.toContain('gen_ai_operation_name="chat"')
  expect(scenario.app.lines.join('\n')).not.toContain('How high')
})
