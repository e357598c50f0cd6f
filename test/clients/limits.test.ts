import { expect, test } from 'bun:test'
import { APIError, RateLimitError } from 'openai'
import { parseUsd } from '../../src/lib/usd.ts'
import {
  maxCost,
  type BillingScenario,
  type BillingScenarioOptions,
  startBillingScenario,
  replyCost,
} from '../support/billing-scenario.ts'
import { streamReply, jsonReply } from '../support/chat-fixtures.ts'
import type { Script } from '../support/script.ts'
import { openaiRequest, countingOpenaiClient } from './support/openai-client.ts'

/** A gateway with two organizations that pay, and a stock client of each. */
async function startTwo(script: Script, options: BillingScenarioOptions = {}) {
  const paid = await startBillingScenario(script, options)
  const clientOf = async (name: string, usd: string, retries = 0) => {
    await paid.billing.fund(name, usd)
    return countingOpenaiClient(paid.app, { key: await paid.billing.keyOf(name), retries })
  }
  return { ...paid, clientOf }
}

async function limitRequests({ billing }: BillingScenario, name: string, limit: number): Promise<void> {
  await billing.rows('UPDATE organizations SET requests_per_minute = ? WHERE name = ?', limit, name)
}

async function errorOf(promise: PromiseLike<unknown>): Promise<APIError> {
  const error = await Promise.resolve(promise).catch((reason: unknown) => reason)
  if (error instanceof APIError) return error
  throw new Error(`This is no error of the client: ${error}`)
}

test.each([false, true])(
  'the OpenAI client throws a RateLimitError with the headers of its organization for too many requests, and serves another organization; streamed: %p',
  async (stream) => {
    await using scenario = await startTwo(stream ? streamReply() : jsonReply(), { clock: () => 0 })
    const acme = await scenario.clientOf('acme', '1')
    const globex = await scenario.clientOf('globex', '1')
    await limitRequests(scenario, 'acme', 3)
    for (let count = 0; count < 3; count++)
      await acme.openai.chat.completions.create({ ...openaiRequest, stream })
    const error = await errorOf(acme.openai.chat.completions.create({ ...openaiRequest, stream }))
    expect(error).toBeInstanceOf(RateLimitError)
    expect(error).toMatchObject({ status: 429, type: 'requests', code: 'rate_limit_exceeded', param: null })
    expect(error.requestID).toStartWith('req_')
    const received = [
      'retry-after',
      'retry-after-ms',
      'x-ratelimit-limit-requests',
      'x-ratelimit-remaining-requests',
    ]
    expect(received.map((name) => error.headers?.get(name))).toEqual(['20', '20000', '3', '0'])
    expect(scenario.acme.requests).toHaveLength(3)

    const { response } = await globex.openai.chat.completions
      .create({ ...openaiRequest, stream })
      .withResponse()
    expect(response.headers.get('x-ratelimit-limit-requests')).toBe('6000')
    expect(response.headers.get('x-ratelimit-remaining-requests')).toBe('5999')
  },
)

test('the OpenAI client retries at the announced time, and is served', async () => {
  await using scenario = await startTwo(jsonReply())
  const acme = await scenario.clientOf('acme', '1', 1)
  await limitRequests(scenario, 'acme', 120)
  // The bucket fills while it is emptied, so that the number of the first refusal is not known.
  const sentBefore = async () => {
    const before = acme.sent()
    await acme.openai.chat.completions.create({ ...openaiRequest, max_tokens: 1 })
    return acme.sent() - before
  }
  const burst = await Promise.all(
    Array.from({ length: 120 }, () => acme.openai.models.list({ maxRetries: 0 }).catch(() => undefined)),
  )
  expect(burst.filter(Boolean).length).toBeGreaterThan(100)
  for (let served = 0; (await sentBefore()) === 1; served++) expect(served).toBeLessThan(500)
  expect((await scenario.billing.usage()).every(({ status }) => status === 200)).toBe(true)
})

test('the OpenAI client throws a RateLimitError that names an exceeded token limit', async () => {
  await using scenario = await startTwo(jsonReply(), {
    clock: () => 0,
    settings: { limits: { tokens_per_minute: 20 } },
  })
  const acme = await scenario.clientOf('acme', '1')
  await acme.openai.chat.completions.create(openaiRequest)
  const error = await errorOf(acme.openai.chat.completions.create(openaiRequest))
  expect(error).toBeInstanceOf(RateLimitError)
  expect(error).toMatchObject({ status: 429, type: 'tokens', code: 'rate_limit_exceeded' })
  expect(Number(error.headers?.get('retry-after'))).toBeGreaterThan(1)
})

test.each([false, true])(
  'the OpenAI client does not retry an empty balance, streamed: %p',
  async (stream) => {
    await using scenario = await startTwo(stream ? streamReply() : jsonReply())
    const poor = await scenario.clientOf('poor', ((maxCost - 1) / 1e9).toFixed(9), 5)
    const error = await errorOf(poor.openai.chat.completions.create({ ...openaiRequest, stream }))
    expect(error).not.toBeInstanceOf(RateLimitError)
    expect(error).toMatchObject({ status: 402, type: 'insufficient_quota', code: 'insufficient_balance' })
    expect(error.headers?.get('retry-after')).toBeNull()
    expect(poor.sent()).toBe(1)
    expect(scenario.acme.requests).toEqual([])
  },
)

test('the balance decreases by exactly the costs that the replies report', async () => {
  await using scenario = await startTwo(jsonReply())
  const acme = await scenario.clientOf('acme', '1')
  await scenario.clientOf('globex', '1')
  let left = 1_000_000_000n
  for (let count = 0; count < 5; count++) {
    const { response } = await acme.openai.chat.completions.create(openaiRequest).withResponse()
    left -= parseUsd(response.headers.get('x-weir-cost') ?? '') ?? 0n
    expect(await scenario.billing.account('acme')).toEqual([Number(left), 0])
  }
  expect(left).toBe(BigInt(1e9 - 5 * replyCost))
  expect(await scenario.billing.account('globex')).toEqual([1e9, 0])
  await scenario.billing.expectConsistent()
})
