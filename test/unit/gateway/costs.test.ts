import { describe, expect, test } from 'bun:test'
import type { Pricing } from '../../../src/config/model-details.ts'
import { Meter } from '../../../src/gateway/billing/meter.ts'
import { costOf } from '../../../src/gateway/billing/price.ts'
import type { GenerationEvent } from '../../../src/domain/generation/events.ts'
import { responses } from '../../../src/providers/protocols/responses/protocol.ts'
import { readStream } from '../providers/protocols/support/parsed-reply.ts'
import { protocolNamed } from '../providers/protocols/support/chunks.ts'
import { plainGeneration } from '../providers/protocols/support/generations.ts'
import type { CostCase } from './support/costs-case.ts'
import { chatCosts } from './support/costs-chat.ts'
import { anthropicCosts, googleCosts } from './support/costs-native.ts'

const cases: readonly CostCase[] = [...anthropicCosts, ...googleCosts, ...chatCosts]

/** What the events come to, counted by the provider. */
function costBy(events: readonly GenerationEvent[], pricing: Pricing): bigint {
  const meter = new Meter({
    generation: plainGeneration,
    model: { contextWindow: 1_000_000, routes: [] },
    stream: true,
  })
  meter.add(events)
  const usage = meter.usage()
  expect(usage.estimated).toBe(false)
  return costOf(usage, pricing)
}

function wireFor({ kind, responses: other }: CostCase) {
  return other ? responses : protocolNamed(kind)
}

describe.each(cases.map((each) => [each.name, each] as const))('%s', (_, each) => {
  const { bodies, pricing, parts, cost } = each

  test('is the sum of its parts', () => {
    expect(parts.reduce((sum, [tokens, nanos]) => sum + tokens * nanos, 0n)).toBe(cost)
  })

  test('is charged for a complete reply', () => {
    expect(costBy(wireFor(each).parse(bodies.complete), pricing)).toBe(cost)
  })

  test('is charged alike for a stream', () => {
    const frames = bodies.stream.map((data) => `data: ${JSON.stringify(data)}\n\n`)
    const events = readStream(wireFor(each), Buffer.from(frames.join('')))
    expect(events.at(-1)?.type).toBe('finish')
    expect(costBy(events, pricing)).toBe(cost)
  })
})

describe('inconsistent usage', () => {
  const prices: Pricing = { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75 }
  const usage = { promptTokens: 1000, completionTokens: 0 }

  test.each([
    ['more read than there is', { cachedTokens: 5000 }, 1000n * 300n],
    ['more written than there is', { cacheWriteTokens: 5000 }, 1000n * 3750n],
    ['more read and written', { cachedTokens: 600, cacheWriteTokens: 600 }, 600n * 300n + 400n * 3750n],
    [
      'more written for an hour than at all',
      { cacheWriteTokens: 100, longCacheWriteTokens: 400 },
      900n * 3000n + 100n * 6000n,
    ],
    ['written for an hour and not at all', { longCacheWriteTokens: 400 }, 1000n * 3000n],
  ])('is limited to the prompt: %s', (_, counts, cost) => {
    expect(costOf({ ...usage, ...counts }, prices)).toBe(cost)
  })
})
