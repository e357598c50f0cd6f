import { describe, expect, test } from 'bun:test'
import { startBillingScenario } from '../../support/billing-scenario.ts'
import { readError } from '../../support/chat-reply.ts'
import { hang, json, silence } from '../../support/script.ts'
import {
  choice,
  complete,
  completionReply,
  completionRequest,
  completionStream,
  unfinishedStream,
} from '../support/text-completions.ts'

const model = { supported_apis: ['completions' as const] }
const start = 1_000_000_000
const stop = choice(' four', { finish_reason: 'stop' })
/** In nano-dollars: 3 and 4 tokens. */
const replyCost = 3 * 1000 + 4 * 10_000
/** In nano-dollars: the bytes of the prompt, and what a tokenizer may add to a request and to a prompt. */
const maxPromptCost = (bytes: number, prompts = 1) => (bytes + 64 + 8 * prompts) * 1000
const usd = (amount: number) => (amount / 1e9).toFixed(9)

describe('a completion is charged its exact cost', () => {
  test.each([
    ['when it is not streamed', completionReply([stop]), {}],
    ['when it is streamed', completionStream([stop]), { stream: true }],
  ])('%s', async (_, script, changes) => {
    await using paid = await startBillingScenario(script, { model })
    const reply = await complete(paid.app, { ...completionRequest, ...changes })
    await reply.text()
    expect(reply.headers.get('x-weir-cost')).toBe('stream' in changes ? null : usd(replyCost))
    expect(await paid.billing.account()).toEqual([start - replyCost, 0])
    const [row] = await paid.billing.waitForUsage(1)
    expect(row).toMatchObject({ api: 'completions', status: 200, cost: replyCost, estimated: 0 })
    await paid.billing.expectConsistent()
  })

  test('and an estimate where the provider does not count', async () => {
    await using paid = await startBillingScenario(completionReply([stop], null), { model })
    const reply = await complete(paid.app, completionRequest)
    expect(await reply.json()).toMatchObject({
      usage: { prompt_tokens: 3, completion_tokens: 2 },
      warnings: ['The provider reported no usage; the token counts are estimated.'],
    })
  })

  test('and a count that the request cannot have is limited to all of its choices', async () => {
    const usage = { prompt_tokens: 3, completion_tokens: 1000, total_tokens: 1003 }
    await using paid = await startBillingScenario(completionReply([stop], usage), { model })
    await complete(paid.app, { ...completionRequest, prompt: ['a', 'b'], n: 2, best_of: 3, max_tokens: 5 })
    expect(await paid.billing.account()).toEqual([start - 3000 - 2 * 3 * 5 * 10_000, 0])
  })
})

test('an estimate is limited to what the request can generate, also where the answer repeats the prompt', async () => {
  const prompt = 'How high is it? '.repeat(100)
  const script = completionReply([choice(`${prompt}four metres or so`, { finish_reason: 'stop' })], null)
  await using paid = await startBillingScenario(script, { model })
  const reply = await complete(paid.app, { ...completionRequest, prompt, echo: true, max_tokens: 3 })
  expect(await reply.json()).toMatchObject({ usage: { prompt_tokens: 400, completion_tokens: 3 } })
  expect(await paid.billing.account()).toEqual([start - 400 * 1000 - 3 * 10_000, 0])
  await paid.billing.expectConsistent()
})

test('a long suffix is charged as the provider counts it', async () => {
  const usage = { prompt_tokens: 40_000, completion_tokens: 4, total_tokens: 40_004 }
  await using paid = await startBillingScenario(completionReply([stop], usage), { model })
  await complete(paid.app, { ...completionRequest, suffix: ' high'.repeat(40_000) })
  expect(paid.acme.requests[0]?.body).toMatchObject({ suffix: ' high'.repeat(40_000) })
  expect(await paid.billing.account()).toEqual([start - 40_000 * 1000 - 4 * 10_000, 0])
  await paid.billing.expectConsistent()
})

describe('the balance has to hold', () => {
  test.each<[string, object, number]>([
    ['16 tokens by default', {}, maxPromptCost(11) + 16 * 10_000],
    ['the tokens of one choice', { max_tokens: 5 }, maxPromptCost(11) + 5 * 10_000],
    ['the tokens of all choices', { max_tokens: 5, n: 3 }, maxPromptCost(11) + 15 * 10_000],
    ['those of all candidates', { max_tokens: 5, n: 2, best_of: 4 }, maxPromptCost(11) + 20 * 10_000],
    ['those of all prompts', { max_tokens: 5, prompt: ['ab', 'c'], n: 2 }, maxPromptCost(3, 2) + 20 * 10_000],
    ['a suffix', { max_tokens: 5, suffix: ' high' }, maxPromptCost(11 + 5, 2) + 5 * 10_000],
    [
      'a suffix of each prompt',
      { max_tokens: 5, prompt: ['ab', 'c'], suffix: ' high' },
      maxPromptCost(3 + 2 * 5, 4) + 10 * 10_000,
    ],
    ['token ids', { max_tokens: 5, prompt: [[1, 2], [3]] }, maxPromptCost(3, 2) + 10 * 10_000],
  ])('%s', async (_, changes, cost) => {
    await using poor = await startBillingScenario(completionReply([stop]), {
      model,
      balance: usd(cost - 1000),
    })
    const request = { ...completionRequest, ...changes }
    expect(await readError(await complete(poor.app, request))).toMatchObject({ status: 402 })
    expect(poor.acme.requests).toHaveLength(0)
    await poor.billing.fund('default', usd(1000))
    expect((await complete(poor.app, request)).status).toBe(200)
    await poor.billing.expectConsistent()
  })
})

describe('a client that leaves', () => {
  test.each([
    ['before the response', silence, false],
    ['in the middle of a stream', unfinishedStream([choice(' four metres')], hang), true],
  ])('%s pays for what was generated, and never more than was reserved', async (_, script, stream) => {
    await using paid = await startBillingScenario(script, { model })
    const leaving = new AbortController()
    const reply = complete(paid.app, { ...completionRequest, stream }, leaving.signal)
    await paid.acme.request(0)
    if (stream) await (await reply).body?.getReader().read()
    leaving.abort()
    await reply.catch(() => {})
    const [row] = await paid.billing.waitForUsage(1)
    expect(row).toMatchObject({ status: 499, error: 'client_gone', estimated: 1 })
    expect(row?.cost).toBeWithin(3000, maxPromptCost(11) + 16 * 10_000 + 1)
    await paid.billing.expectConsistent()
  })
})

test('a rejected completion costs nothing', async () => {
  const script = json({ error: { message: 'No.' } }, { status: 400 })
  await using paid = await startBillingScenario(script, { model })
  expect((await complete(paid.app, completionRequest)).status).toBe(400)
  expect(await paid.billing.account()).toEqual([start, 0])
})

test('a limit of 0 is raised for Ollama, which would generate without an end, and is charged so', async () => {
  await using paid = await startBillingScenario(completionReply([stop]), { model, acme: { kind: 'ollama' } })
  const reply = await complete(paid.app, { ...completionRequest, max_tokens: 0 })
  expect(await reply.json()).toMatchObject({
    usage: { completion_tokens: 1 },
    warnings: ['`max_tokens` was raised to 1, the minimum of ollama.'],
  })
  expect(paid.acme.requests[0]?.body).toMatchObject({ max_tokens: 1 })
  expect(await paid.billing.account()).toEqual([start - 3 * 1000 - 10_000, 0])
  await paid.billing.expectConsistent()
})
