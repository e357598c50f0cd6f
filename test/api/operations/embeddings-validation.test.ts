import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readError } from '../../support/chat-reply.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { embed, embeddingModel as model, embeddingReply, embeddingRequest } from '../support/embeddings.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario(embeddingReply([[1]]), { model })
})
afterAll(() => scenario[Symbol.asyncDispose]())

const strings = (count: number) => Array.from({ length: count }, () => 'a')
const integers = (count: number) => Array.from({ length: count }, () => 7)

test.each<[string, object, string, string]>([
  ['no input', { input: undefined }, 'input', 'missing_required_parameter'],
  ['null', { input: null }, 'input', 'invalid_type'],
  ['an object', { input: {} }, 'input', 'invalid_type'],
  ['an empty text', { input: '' }, 'input', 'string_below_min_length'],
  ['an empty list', { input: [] }, 'input', 'empty_array'],
  ['a list with an empty text', { input: ['a', ''] }, 'input[1]', 'string_below_min_length'],
  ['an empty list of tokens', { input: [[1], []] }, 'input[1]', 'empty_array'],
  ['a mixed list', { input: ['a', 1] }, 'input[1]', 'invalid_type'],
  ['a negative token', { input: [1, -1] }, 'input[1]', 'integer_below_min_value'],
  ['a token that is no integer', { input: [[1.5]] }, 'input[0][0]', 'invalid_type'],
  ['a list three levels deep', { input: [[[1]]] }, 'input[0][0]', 'invalid_type'],
  ['2,049 texts', { input: strings(2049) }, 'input', 'array_above_max_length'],
  ['2,049 lists', { input: strings(2049).map(() => [1]) }, 'input', 'array_above_max_length'],
  ['a million integers', { input: integers(1_000_000) }, 'input', 'array_above_max_length'],
  ['a long list among others', { input: [[1], integers(131_073)] }, 'input[1]', 'array_above_max_length'],
  [
    'a million tokens in many lists',
    { input: strings(10).map(() => integers(100_001)) },
    'input',
    'array_above_max_length',
  ],
  ['thousands of texts', { input: strings(200_000) }, 'input', 'array_above_max_length'],
  ['no dimensions', { dimensions: 0 }, 'dimensions', 'integer_below_min_value'],
  ['endless dimensions', { dimensions: 1e9 }, 'dimensions', 'integer_above_max_value'],
  ['an unknown format', { encoding_format: 'int8' }, 'encoding_format', 'invalid_value'],
  ['too many tags', { tags: strings(33) }, 'tags', 'array_above_max_length'],
])('an embedding request with %s is a 400 that names the field', async (_, changes, param, code) => {
  const before = scenario.acme.requests.length
  const error = await readError(await embed(scenario.app, { ...embeddingRequest, ...changes }))
  expect(error).toMatchObject({ status: 400, param, code, type: 'invalid_request_error' })
  expect(error.message.length).toBeLessThan(200)
  expect(scenario.acme.requests).toHaveLength(before)
})

test.each([
  ['the text of one character', 'a'],
  ['2,048 texts', strings(2048)],
  ['token ids', integers(100_000)],
])('an embedding request with %s reaches the provider', async (_, input) => {
  const count = typeof input === 'string' || typeof input[0] === 'number' ? 1 : input.length
  scenario.acme.respondWith(embeddingReply(Array.from({ length: count }, () => [1])))
  const reply = await embed(scenario.app, { ...embeddingRequest, input })
  expect(reply.status).toBe(200)
  expect(scenario.acme.requests.at(-1)?.body.input).toEqual(input)
})
