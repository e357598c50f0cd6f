import { expect, test } from 'bun:test'
import { startBillingScenario } from '../../support/billing-scenario.ts'
import { readError } from '../../support/chat-reply.ts'
import { startScenario } from '../../support/scenario.ts'
import { silence } from '../../support/script.ts'
import { embed, embeddingModel as model, embeddingReply, embeddingRequest } from '../support/embeddings.ts'
import { complete, completionRequest } from '../support/text-completions.ts'

const exceeded = { status: 429, code: 'rate_limit_exceeded' }

test('an embedding request takes the tokens of its inputs from the rate limit, and a completion those of its prompts', async () => {
  const settings = { limits: { tokens_per_minute: 100 } }
  const both = { supported_apis: ['embeddings' as const, 'completions' as const] }
  await using scenario = await startScenario(embeddingReply([[1]]), { model: both, settings })
  const { app, acme } = scenario
  const input = Array.from({ length: 90 }, () => 7)
  scenario.acme.respondWith(embeddingReply([[1]], { prompt_tokens: 90, total_tokens: 90 }))
  expect((await embed(app, { ...embeddingRequest, input })).status).toBe(200)
  expect(await readError(await embed(app, { ...embeddingRequest, input }))).toMatchObject({
    ...exceeded,
    type: 'tokens',
  })
  const prompt = 'x'.repeat(300)
  expect(await readError(await complete(app, { ...completionRequest, prompt }))).toMatchObject(exceeded)
  expect(acme.requests).toHaveLength(1)
})

test('an embedding request holds a concurrency slot until it ends', async () => {
  const settings = { limits: { concurrent_requests: 1 } }
  await using scenario = await startScenario([silence, embeddingReply([[1]])], { model, settings })
  const { app, acme } = scenario
  const leaving = new AbortController()
  const first = embed(app, embeddingRequest, leaving.signal)
  await acme.request(0)
  expect(await readError(await embed(app, embeddingRequest))).toMatchObject(exceeded)
  leaving.abort()
  await first.catch(() => {})
  let status = 429
  while (status === 429) status = (await embed(app, embeddingRequest)).status
  expect(status).toBe(200)
})

test('embeddings and completions are charged to the organization of their key alone', async () => {
  const pricing = { input: 1 }
  await using paid = await startBillingScenario(embeddingReply([[1]]), { model: { ...model, pricing } })
  await paid.billing.fund('rivals', '1')
  const key = await paid.billing.keyOf('rivals')
  const headers = { authorization: `Bearer ${key}` }
  const body = embeddingRequest
  expect((await paid.app.request('/v1/embeddings', { method: 'POST', body, headers })).status).toBe(200)
  expect(await paid.billing.account('rivals')).toEqual([1_000_000_000 - 5000, 0])
  expect(await paid.billing.account()).toEqual([1_000_000_000, 0])
})

test.each(['/v1/embeddings', '/v1/completions'])('%s requires a key', async (path) => {
  await using scenario = await startScenario(embeddingReply([[1]]), { model })
  const reply = await scenario.app.request(path, {
    method: 'POST',
    body: embeddingRequest,
    headers: { authorization: null },
  })
  expect(reply.status).toBe(401)
  expect(scenario.acme.requests).toHaveLength(0)
})
