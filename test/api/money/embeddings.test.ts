import { describe, expect, test } from 'bun:test'
import { startBillingScenario } from '../../support/billing-scenario.ts'
import { readError } from '../../support/chat-reply.ts'
import { json, reset, silence } from '../../support/script.ts'
import { embed, embeddingReply, embeddingRequest, vectors } from '../support/embeddings.ts'

/** 1,000 nano-dollars a token, and no price of an output. */
const model = {
  supported_apis: ['embeddings' as const],
  pricing: { input: 1 },
  max_output_tokens: undefined,
}
const start = 1_000_000_000
const one = vectors.slice(0, 1)

/** In nano-dollars: the bytes of the input, and what a tokenizer may add to a request and to an input. */
const maxCostOf = (bytes: number, inputs = 1) => (bytes + 64 + 8 * inputs) * 1000

describe('an embedding request is charged the price of its input', () => {
  test.each([
    ['as the provider counts', { prompt_tokens: 9, total_tokens: 9 }, 9],
    ['as the total where there is no other count', { total_tokens: 7 }, 7],
    ['as an estimate where the provider does not count', null, 4],
    ['as an estimate where the provider counts nothing', { prompt_tokens: 0, total_tokens: 0 }, 4],
  ])('%s', async (_, usage, tokens) => {
    await using paid = await startBillingScenario(embeddingReply(one, usage), { model })
    const reply = await embed(paid.app, embeddingRequest)
    expect(reply.headers.get('x-weir-cost')).toBe(`0.00000${tokens}000`)
    expect(await reply.json()).toMatchObject({ usage: { prompt_tokens: tokens, total_tokens: tokens } })
    expect(await paid.billing.account()).toEqual([start - tokens * 1000, 0])
    await paid.billing.expectConsistent()
  })

  test('and a count that the input cannot have is limited to the maximum', async () => {
    const usage = { prompt_tokens: 1_000_000, total_tokens: 1_000_000 }
    const limited = { ...model, context_window: 100 }
    await using paid = await startBillingScenario(embeddingReply(vectors, usage), { model: limited })
    await embed(paid.app, { ...embeddingRequest, input: ['a', 'b'] })
    // Each input has a context window of its own.
    expect(await paid.billing.account()).toEqual([start - 200 * 1000, 0])
  })

  test('and an output that the provider counts costs nothing', async () => {
    const priced = { ...model, pricing: { input: 1, output: 10 } }
    const usage = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 }
    await using paid = await startBillingScenario(embeddingReply(one, usage), { model: priced })
    await embed(paid.app, embeddingRequest)
    expect(await paid.billing.account()).toEqual([start - 5000, 0])
  })
})

describe('the balance has to hold', () => {
  test.each([
    ['a token for each byte of a text', embeddingRequest.input, maxCostOf(15), one],
    ['a token for each byte of all texts', ['How high', 'is it, ö?'], maxCostOf(18, 2), vectors],
    ['the token ids of a list', [1, 2, 3, 100_000], maxCostOf(4), one],
    ['the token ids of all lists', [[1, 2], [3]], maxCostOf(3, 2), vectors],
  ])('%s, and no output', async (_, input, cost, embeddings) => {
    const usd = (amount: number) => (amount / 1e9).toFixed(9)
    await using poor = await startBillingScenario(embeddingReply(embeddings), {
      model,
      balance: usd(cost - 1000),
    })
    expect(await readError(await embed(poor.app, { ...embeddingRequest, input }))).toMatchObject({
      status: 402,
      code: 'insufficient_balance',
    })
    expect(poor.acme.requests).toHaveLength(0)
    await poor.billing.fund('default', usd(1000))
    expect((await embed(poor.app, { ...embeddingRequest, input })).status).toBe(200)
    await poor.billing.expectConsistent()
  })
})

describe('an embedding request that fails costs nothing', () => {
  test.each([
    ['with an error of the provider', json({ error: { message: 'Down.' } }, { status: 500 }), 502],
    ['with a broken connection', reset, 502],
    ['with a rejected request', json({ error: { message: 'No.' } }, { status: 400 }), 400],
    ['with embeddings that do not match', embeddingReply(vectors), 502],
  ])('%s', async (_, script, status) => {
    await using paid = await startBillingScenario(script, { model })
    expect((await embed(paid.app, embeddingRequest)).status).toBe(status)
    expect(await paid.billing.account()).toEqual([start, 0])
    const [row] = await paid.billing.waitForUsage(1)
    expect(row).toMatchObject({ status, cost: 0 })
    await paid.billing.expectConsistent()
  })
})

test('a client that leaves pays for the input that the provider holds, and never more than was reserved', async () => {
  await using paid = await startBillingScenario(silence, { model })
  const leaving = new AbortController()
  const body = JSON.stringify(embeddingRequest)
  const reply = paid.app.request('/v1/embeddings', { method: 'POST', body, signal: leaving.signal })
  await paid.acme.request(0)
  leaving.abort()
  await reply.catch(() => {})
  const [row] = await paid.billing.waitForUsage(1)
  expect(row).toMatchObject({ status: 499, error: 'client_gone', estimated: 1, completion_tokens: 0 })
  expect(row?.cost).toBeWithin(4000, maxCostOf(15) + 1)
  expect(await paid.billing.account()).toEqual([start - (row?.cost ?? 0), 0])
  await paid.billing.expectConsistent()
})

test('the usage row of an embedding request names its API', async () => {
  await using paid = await startBillingScenario(embeddingReply(one), { model })
  await embed(paid.app, { ...embeddingRequest, user: 'mia', tags: ['nightly'] })
  const [row] = await paid.billing.waitForUsage(1)
  expect(row).toMatchObject({ api: 'embeddings', status: 200, prompt_tokens: 5, completion_tokens: 0 })
})

test('a model without a price is not served to a prepaid organization', async () => {
  await using paid = await startBillingScenario(embeddingReply(one), {
    model: { ...model, pricing: undefined },
  })
  expect(await readError(await embed(paid.app, embeddingRequest))).toMatchObject({
    status: 402,
    code: 'billing_not_configured',
  })
})

test('a conversation still needs the price of an output', async () => {
  const chat = { pricing: { input: 1 } }
  await using paid = await startBillingScenario(silence, { model: chat })
  const messages = [{ role: 'user', content: 'Hi' }]
  expect(await readError(await paid.app.chat({ model: 'acme/river', messages }))).toMatchObject({
    status: 402,
    code: 'billing_not_configured',
  })
})
