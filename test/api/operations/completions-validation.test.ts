import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readError } from '../../support/chat-reply.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import {
  choice,
  complete,
  completionModel as model,
  completionReply,
  completionRequest,
} from '../support/text-completions.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario(completionReply([choice('x', { finish_reason: 'stop' })]), { model })
})
afterAll(() => scenario[Symbol.asyncDispose]())

const prompts = (count: number) => Array.from({ length: count }, () => 'a')

test.each<[string, object, string, string]>([
  ['no prompt', { prompt: undefined }, 'prompt', 'missing_required_parameter'],
  ['no prompts', { prompt: [] }, 'prompt', 'empty_array'],
  ['an empty list of tokens', { prompt: [[]] }, 'prompt[0]', 'empty_array'],
  ['a mixed prompt', { prompt: ['a', 1] }, 'prompt[1]', 'invalid_type'],
  ['129 prompts', { prompt: prompts(129) }, 'prompt', 'array_above_max_length'],
  ['a million tokens', { prompt: Array(1_000_000).fill(1) }, 'prompt', 'array_above_max_length'],
  ['too many choices', { n: 129 }, 'n', 'unsupported_value'],
  ['too many choices of prompts', { prompt: prompts(43), n: 3 }, 'n', 'unsupported_value'],
  ['too many candidates', { prompt: prompts(43), best_of: 3 }, 'best_of', 'unsupported_value'],
  ['fewer candidates than choices', { n: 3, best_of: 2 }, 'best_of', 'invalid_value'],
  ['no choice', { n: 0 }, 'n', 'integer_below_min_value'],
  ['negative tokens', { max_tokens: -1 }, 'max_tokens', 'integer_below_min_value'],
  ['a hot temperature', { temperature: 2.1 }, 'temperature', 'decimal_above_max_value'],
  ['logprobs that are no number', { logprobs: true }, 'logprobs', 'invalid_type'],
  ['five stops', { stop: prompts(5) }, 'stop', 'array_above_max_length'],
  ['an unknown stream option', { stream_options: { x: 1 } }, 'stream_options.x', 'unknown_parameter'],
])('a completion request with %s is a 400 that names the field', async (_, changes, param, code) => {
  const before = scenario.acme.requests.length
  const error = await readError(await complete(scenario.app, { ...completionRequest, ...changes }))
  expect(error).toMatchObject({ status: 400, param, code })
  expect(scenario.acme.requests).toHaveLength(before)
})

test.each([
  ['an empty prompt', { prompt: '' }],
  ['128 prompts', { prompt: prompts(128) }],
  ['token ids', { prompt: [1, 2, 3] }],
  ['lists of token ids', { prompt: [[1, 2], [3]] }],
  ['no tokens to generate', { max_tokens: 0, echo: true, logprobs: 0 }],
])('a completion request with %s reaches the provider as it is', async (_, changes) => {
  const reply = await complete(scenario.app, { ...completionRequest, ...changes })
  expect(reply.status).toBe(200)
  expect(scenario.acme.requests.at(-1)?.body).toMatchObject(changes)
})
