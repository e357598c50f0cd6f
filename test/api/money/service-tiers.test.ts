import { describe, expect, test } from 'bun:test'
import type { ModelDetails } from '../../../src/config/model-details.ts'
import { type BillingScenarioOptions, startBillingScenario } from '../../support/billing-scenario.ts'
import { chatOutput, streamReply, jsonReply } from '../../support/chat-fixtures.ts'
import { readStreamed } from '../../support/chat-reply.ts'
import { postResponse } from '../../support/responses.ts'
import { chatRequest } from '../../support/scenario.ts'

const usage = { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 }
const plainCost = 12 * 1000 + 5 * 10_000
const fastCost = 12 * 2000 + 5 * 30_000
const fast: ModelDetails['fast'] = {
  strategy: 'service_tier',
  service_tier: 'priority',
  pricing: { input: 2, output: 30 },
}
const options: BillingScenarioOptions = { model: { fast } }

type Case = {
  readonly asked: object
  readonly served?: string
  readonly cost: number
}

const cases: readonly Case[] = [
  { asked: { service_tier: 'priority' }, served: 'priority', cost: fastCost },
  { asked: { service_tier: 'priority' }, served: 'default', cost: plainCost },
  { asked: { service_tier: 'priority' }, cost: fastCost },
  { asked: { performance_mode: 'fast' }, served: 'priority', cost: fastCost },
  { asked: { performance_mode: 'fast' }, served: 'default', cost: plainCost },
  { asked: { performance_mode: 'fast' }, cost: fastCost },
  { asked: { service_tier: 'auto' }, served: 'priority', cost: fastCost },
  { asked: { service_tier: 'auto' }, served: 'default', cost: plainCost },
  { asked: { service_tier: 'flex' }, served: 'flex', cost: plainCost },
  { asked: {}, served: 'priority', cost: fastCost },
  { asked: {}, cost: plainCost },
]

describe.each([true, false])('the served tier determines the price (streamed: %p)', (stream) => {
  test.each(cases)(
    'when $asked was requested and $served was served',
    async ({ asked: requested, served, cost }) => {
      const providerReply = chatOutput({}, { usage, ...(served && { tier: served }) })
      await using paid = await startBillingScenario(
        stream ? streamReply(providerReply) : jsonReply(providerReply),
        options,
      )
      const reply = await paid.app.chat({ ...chatRequest, ...requested, stream })
      if (stream) expect((await readStreamed(reply)).done).toBe(true)
      else expect(reply.headers.get('x-weir-cost')).toBe((cost / 1e9).toFixed(9))
      const [row] = await paid.billing.waitForUsage(1)
      expect(row?.cost).toBe(cost)
      expect(await paid.billing.account()).toEqual([1e9 - cost, 0])
    },
  )
})

test('only the price of the requested tier is reserved', async () => {
  const [plainMost, fastMost] = [87 * 1000 + 100 * 10_000, 87 * 2000 + 100 * 30_000]
  const balance = ((fastMost - 1) / 1e9).toFixed(9)
  await using paid = await startBillingScenario(jsonReply(chatOutput({}, { usage, tier: 'default' })), {
    ...options,
    balance,
  })
  expect((await paid.app.chat({ ...chatRequest, service_tier: 'priority' })).status).toBe(402)
  expect((await paid.app.chat({ ...chatRequest, performance_mode: 'fast' })).status).toBe(402)
  expect(fastMost).toBeGreaterThan(plainMost)
  expect((await paid.app.chat(chatRequest)).status).toBe(200)
})

describe('a model without a fast mode ignores the priority tier with a warning', () => {
  test('in a chat completion', async () => {
    await using paid = await startBillingScenario(jsonReply(chatOutput({}, { usage })))
    const reply = await paid.app.chat({ ...chatRequest, service_tier: 'priority' })
    expect(await reply.json()).toMatchObject({
      warnings: ['Service tier `priority` is not supported by acme/river and was ignored.'],
    })
    expect(paid.acme.requests[0]?.body).not.toHaveProperty('service_tier')
    expect((await paid.billing.usage())[0]?.cost).toBe(plainCost)
  })

  test('in a response', async () => {
    await using paid = await startBillingScenario(jsonReply(chatOutput({}, { usage })))
    const reply = await postResponse(paid.app, { service_tier: 'priority' })
    expect(await reply.json()).toMatchObject({
      warnings: ['Service tier `priority` is not supported by acme/river and was ignored.'],
    })
    expect(paid.acme.requests[0]?.body).not.toHaveProperty('service_tier')
  })

  test('but accepts other tiers', async () => {
    await using paid = await startBillingScenario(jsonReply(chatOutput({}, { usage })))
    for (const [index, tier] of ['auto', 'default', 'flex'].entries()) {
      expect((await paid.app.chat({ ...chatRequest, service_tier: tier })).status).toBe(200)
      expect(paid.acme.requests[index]?.body).toHaveProperty('service_tier', tier)
    }
  })
})

test('a fast mode whose price omits input or output is never free', async () => {
  const half: ModelDetails['fast'] = {
    strategy: 'service_tier',
    service_tier: 'priority',
    pricing: { input: 2 },
  }
  await using paid = await startBillingScenario(jsonReply(chatOutput({}, { usage, tier: 'priority' })), {
    model: { fast: half },
  })
  await paid.app.chat({ ...chatRequest, service_tier: 'priority' })
  expect((await paid.billing.waitForUsage(1))[0]?.cost).toBe(plainCost)
})
