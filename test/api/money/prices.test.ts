import { expect, test } from 'bun:test'
import type { ModelDetails, Pricing } from '../../../src/config/model-details.ts'
import { startBillingScenario } from '../../support/billing-scenario.ts'
import { chatOutput, streamReply, jsonReply } from '../../support/chat-fixtures.ts'
import { readStreamed } from '../../support/chat-reply.ts'
import { chatRequest } from '../../support/scenario.ts'

const plain = { input: 2, output: 8 }
const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }
const withImages = {
  messages: [{ role: 'user', content: [{ type: 'text', text: 'How high?' }, image, image] }],
}
const seesImages: Partial<ModelDetails> = { input_modalities: ['text', 'image'] }

type Case = {
  readonly of: string
  readonly pricing: Pricing
  readonly usage: object
  readonly model?: Partial<ModelDetails>
  readonly body?: object
  /** In USD, as the reply tells it. */
  readonly cost: string
}

const cases: readonly Case[] = [
  {
    of: 'a prompt and its answer',
    pricing: plain,
    usage: { prompt_tokens: 1000, completion_tokens: 500 },
    // 1000 × 2 + 500 × 8 = 6000 millionths
    cost: '0.006000000',
  },
  {
    of: 'tokens read from a cache',
    pricing: { ...plain, cache_read: 0.5 },
    usage: { prompt_tokens: 1000, completion_tokens: 500, prompt_tokens_details: { cached_tokens: 600 } },
    // 400 × 2 + 600 × 0.5 + 500 × 8 = 5100
    cost: '0.005100000',
  },
  {
    of: 'tokens read from a cache that has no price of its own',
    pricing: plain,
    usage: { prompt_tokens: 1000, completion_tokens: 500, prompt_tokens_details: { cached_tokens: 600 } },
    cost: '0.006000000',
  },
  {
    of: 'tokens written to a cache',
    pricing: { ...plain, cache_read: 0.5, cache_write: 2.5 },
    usage: {
      prompt_tokens: 1000,
      completion_tokens: 0,
      prompt_tokens_details: { cached_tokens: 200, cache_write_tokens: 300 },
    },
    // 500 × 2 + 200 × 0.5 + 300 × 2.5 = 1850
    cost: '0.001850000',
  },
  {
    of: 'a request as such',
    pricing: { ...plain, request: 0.01 },
    usage: { prompt_tokens: 1000, completion_tokens: 500 },
    cost: '0.016000000',
  },
  {
    of: 'the images of the prompt',
    pricing: { ...plain, image: 0.003 },
    usage: { prompt_tokens: 1000, completion_tokens: 500 },
    model: seesImages,
    body: withImages,
    cost: '0.012000000',
  },
  {
    of: 'a prompt that is as long as a tier begins',
    pricing: { ...plain, tiers: [{ above: 1000, input: 4, output: 12 }] },
    usage: { prompt_tokens: 1000, completion_tokens: 500 },
    cost: '0.006000000',
  },
  {
    of: 'a prompt of a higher tier, all of it',
    pricing: { ...plain, tiers: [{ above: 999, input: 4, output: 12 }] },
    usage: { prompt_tokens: 1000, completion_tokens: 500 },
    // 1000 × 4 + 500 × 12 = 10000
    cost: '0.010000000',
  },
  {
    of: 'the fast mode by a tier of the provider',
    pricing: plain,
    usage: { prompt_tokens: 1000, completion_tokens: 500 },
    model: {
      fast: { strategy: 'service_tier', service_tier: 'priority', pricing: { input: 20, output: 80 } },
    },
    body: { performance_mode: 'fast' },
    cost: '0.060000000',
  },
  {
    of: 'the fast mode by another model',
    pricing: plain,
    usage: { prompt_tokens: 1000, completion_tokens: 500 },
    model: {
      fast: {
        strategy: 'model_variant',
        target_slug: 'acme/rapids',
        pricing: { input: 3, output: 9 },
      },
    },
    body: { performance_mode: 'fast' },
    // 1000 × 3 + 500 × 9 = 7500
    cost: '0.007500000',
  },
  {
    of: 'a single token, to the nano-dollar',
    pricing: { input: 0.0015, output: 0.0025 },
    usage: { prompt_tokens: 1, completion_tokens: 1 },
    // 1.5 + 2.5 = 4 nano-dollars, rounded once
    cost: '0.000000004',
  },
]

const rapids: ModelDetails = { slug: 'acme/rapids', routes: [{ provider: 'acme', model: 'rapids-1' }] }

test.each(cases.map((item) => [item.of, item] as const))(
  'the price of %s is in the reply, in the usage row and deducted from the balance',
  async (_, { pricing, usage, model, body, cost }) => {
    const options = { model: { pricing, max_output_tokens: 1000, ...model }, models: [rapids] }
    await using paid = await startBillingScenario(jsonReply(chatOutput({}, { usage })), options)
    const reply = await paid.app.chat({ ...chatRequest, ...body })
    expect([reply.status, reply.headers.get('x-weir-cost')]).toEqual([200, cost])
    const nanos = Math.round(Number(cost) * 1e9)
    expect((await paid.billing.usage()).map((row) => row.cost)).toEqual([nanos])
    expect(await paid.billing.account()).toEqual([1e9 - nanos, 0])

    paid.acme.respondWith(streamReply(chatOutput({}, { usage })))
    const stream = await paid.app.chat({ ...chatRequest, ...body, stream: true })
    expect((await readStreamed(stream)).done).toBe(true)
    expect(await paid.billing.account()).toEqual([1e9 - 2 * nanos, 0])
    await paid.billing.expectConsistent()
  },
)

test('the reservation for a prompt that may be written to a cache is sufficient', async () => {
  const usage = {
    prompt_tokens: 87,
    completion_tokens: 1,
    prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 87 },
  }
  // 87 × 5 + 1 × 8 = 443 millionths, where the plain prompt would be 182.
  const options = { model: { pricing: { ...plain, cache_write: 5 } }, balance: '0.000443' }
  await using paid = await startBillingScenario(jsonReply(chatOutput({}, { usage })), options)
  expect((await paid.app.chat({ ...chatRequest, max_tokens: 2 })).status).toBe(402)
  expect((await paid.app.chat({ ...chatRequest, max_tokens: 1 })).headers.get('x-weir-cost')).toBe(
    '0.000443000',
  )
  expect(await paid.billing.account()).toEqual([0, 0])
  expect(await paid.billing.entries()).toHaveLength(2)
})
