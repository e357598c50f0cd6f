import Anthropic, { APIError as AnthropicError } from '@anthropic-ai/sdk'
import { describe, expect, test } from 'bun:test'
import { APIError, PermissionDeniedError } from 'openai'
import { chunks, jsonReply } from '../support/chat-fixtures.ts'
import { firstChunks } from '../support/background.ts'
import { hang } from '../support/script.ts'
import { startBudgets } from '../api/budgets/support/budget-scenario.ts'
import { countingOpenaiClient, openaiRequest } from './support/openai-client.ts'

const params = { ...openaiRequest, max_tokens: 100 }
/** The clients repeat a request twice by default. */
const retries = 2

/** A client with default options that counts what it sends. */
function countingAnthropicClient(baseURL: string, apiKey: string) {
  let sent = 0
  const client = new Anthropic({
    baseURL,
    apiKey,
    maxRetries: retries,
    fetch: (url, init) => {
      sent++
      return fetch(url, init)
    },
  })
  return { client, sent: () => sent }
}

async function errorOf<Kind extends Error>(
  promise: PromiseLike<unknown>,
  kind: new (...args: never[]) => Kind,
) {
  const error = await Promise.resolve(promise).catch((reason: unknown) => reason)
  if (error instanceof kind) return error
  throw new Error(`This is no error of the client: ${error}`)
}

describe.each([false, true])('a stock client with a budget that is too low (streamed: %p)', (stream) => {
  test('of OpenAI throws, and sends nothing again', async () => {
    await using scenario = await startBudgets(jsonReply())
    const limited = await scenario.keyWith({ budget: 1n, budgetPeriod: 'month' })
    const { openai, sent } = countingOpenaiClient(scenario.app, { key: limited.key, retries })
    const chat = await errorOf(openai.chat.completions.create({ ...openaiRequest, stream }), APIError)
    expect(chat).toMatchObject({ status: 402, code: 'budget_exceeded', type: 'insufficient_quota' })
    const response = { model: 'acme/river', input: 'How high is it?', stream }
    expect((await errorOf(openai.responses.create(response), APIError)).code).toBe('budget_exceeded')
    expect([sent(), scenario.acme.requests.length]).toEqual([2, 0])
  })

  test('of Anthropic throws, and sends nothing again', async () => {
    await using scenario = await startBudgets(jsonReply())
    const limited = await scenario.keyWith({ budget: 1n, budgetPeriod: 'day' })
    const { client, sent } = countingAnthropicClient(scenario.app.url, limited.key)
    const error = await errorOf(client.messages.create({ ...params, stream }), AnthropicError)
    expect([error.status, error.type, sent()]).toEqual([402, 'billing_error', 1])
    expect(scenario.acme.requests).toEqual([])
  })
})

test('a stock client is told which models it may use, and sends a disallowed one once', async () => {
  await using scenario = await startBudgets(jsonReply())
  const limited = await scenario.keyWith({ models: ['acme/p*'] })
  const { openai, sent } = countingOpenaiClient(scenario.app, { key: limited.key, retries })
  const listed = await Array.fromAsync(await openai.models.list())
  expect(listed.map(({ id }) => id)).toEqual(['acme/prompts'])
  const error = await errorOf(openai.chat.completions.create(openaiRequest), PermissionDeniedError)
  expect([error.code, error.param, sent()]).toEqual(['model_not_allowed', 'model', 2])
  const anthropic = countingAnthropicClient(scenario.app.url, limited.key)
  const denied = await errorOf(anthropic.client.messages.create(params), AnthropicError)
  expect([denied.status, denied.type, anthropic.sent()]).toEqual([403, 'permission_error', 1])
  const models = await Array.fromAsync(anthropic.client.models.list())
  expect(models.map(({ id }) => id)).toEqual(['acme/prompts'])
  await errorOf(anthropic.client.messages.countTokens({ ...openaiRequest }), AnthropicError)
  expect(scenario.acme.requests).toEqual([])
})

test('the stream of a stock client ends with an error when its key is disabled', async () => {
  await using scenario = await startBudgets(chunks(firstChunks, hang))
  const limited = await scenario.keyWith()
  const { openai } = countingOpenaiClient(scenario.app, { key: limited.key, retries })
  const stream = await openai.chat.completions.create({ ...openaiRequest, stream: true })
  const read = Array.fromAsync(stream)
  await scenario.billing.keys.change(limited.id, { enabled: false })
  expect((await errorOf(read, APIError)).code).toBe('key_disabled')
  const again = errorOf(openai.chat.completions.create(openaiRequest), PermissionDeniedError)
  expect((await again).message).toContain('is disabled')
  expect(scenario.acme.requests).toHaveLength(1)
})
