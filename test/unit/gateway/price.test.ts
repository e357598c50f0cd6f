import { describe, expect, test } from 'bun:test'
import type { Pricing } from '../../../src/config/model-details.ts'
import { costOf, toDollars } from '../../../src/gateway/billing/price.ts'
import type { Usage } from '../../../src/domain/generation/events.ts'

const usage = (promptTokens: number, completionTokens: number, rest: Partial<Usage> = {}): Usage => {
  return { promptTokens, completionTokens, ...rest }
}
const prices: Pricing = { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75 }

const costs: readonly (readonly [name: string, usage: Usage, pricing: Pricing, nanos: bigint])[] = [
  ['nothing', usage(0, 0), prices, 0n],
  ['input and output', usage(1000, 100), prices, 4_500_000n],
  ['cached tokens at their own price', usage(1000, 0, { cachedTokens: 400 }), prices, 1_920_000n],
  ['cached tokens at the input price', usage(1000, 0, { cachedTokens: 400 }), { input: 3 }, 3_000_000n],
  ['written tokens at their own price', usage(1000, 0, { cacheWriteTokens: 400 }), prices, 3_300_000n],
  ['written tokens at the input price', usage(1000, 0, { cacheWriteTokens: 400 }), { input: 3 }, 3_000_000n],
  [
    'long writes at twice the input price',
    usage(1000, 0, { cacheWriteTokens: 400, longCacheWriteTokens: 100 }),
    prices,
    600n * 3000n + 300n * 3750n + 100n * 6000n,
  ],
  [
    'all kinds of tokens at once',
    usage(1000, 10, { cachedTokens: 500, cacheWriteTokens: 200 }),
    prices,
    300n * 3000n + 500n * 300n + 200n * 3750n + 10n * 15_000n,
  ],
  ['a third of a nano-dollar as none', usage(1, 0), { input: 0.000_3 }, 0n],
  ['half a nano-dollar as one', usage(1, 0), { input: 0.000_5 }, 1n],
  ['rounded once, not for each kind', usage(1, 1), { input: 0.000_3, output: 0.000_3 }, 1n],
  ['0.1 exactly', usage(3, 0), { input: 0.1 }, 300n],
  ['a price that is not told as none', usage(5, 5), {}, 0n],
  [
    'a billion tokens beyond what a number can count',
    usage(9e12, 9e12),
    { input: 75, output: 600 },
    6_075_000_000n * 10n ** 9n,
  ],
]

test.each([...costs])('the price includes %s', (_, used, pricing, nanos) => {
  expect(costOf(used, pricing)).toBe(nanos)
})

describe('a price tier', () => {
  const tiered: Pricing = {
    ...prices,
    tiers: [
      { above: 2000, input: 9 },
      { above: 1000, input: 6, cache_read: 0.6 },
    ],
  }

  test.each([
    [1000, 3],
    [1001, 6],
    [2000, 6],
    [2001, 9],
  ])('applies to all tokens of the prompt: %d tokens cost %d a million', (tokens, price) => {
    expect(costOf(usage(tokens, 0), tiered)).toBe(BigInt(tokens) * BigInt(price) * 1000n)
  })

  test('leaves the prices that it does not name, and those of the output', () => {
    const used = usage(1500, 10, { cachedTokens: 500 })
    expect(costOf(used, tiered)).toBe(1000n * 6000n + 500n * 600n + 10n * 15_000n)
  })
})

test('the prices per request and per image are added, and the images are counted', () => {
  expect(costOf(usage(0, 0), { request: 0.01, image: 0.005 }, 3)).toBe(25_000_000n)
  expect(costOf(usage(0, 0), { request: 0.01, image: 0.005 })).toBe(10_000_000n)
})

test('wrong usage of a provider never makes a negative price', () => {
  expect(costOf(usage(10, 0, { cachedTokens: 50 }), prices)).toBe(3000n)
  expect(costOf(usage(10, 0, { cachedTokens: 10, cacheWriteTokens: 10 }), { input: 3, cache_write: 0 })).toBe(
    30_000n,
  )
})

test.each([
  [0n, '0.000000000'],
  [1n, '0.000000001'],
  [123_456n, '0.000123456'],
  [1_000_000_000n, '1.000000000'],
  [12_345_678_901_234_567_890n, '12345678901.234567890'],
  [-1n, '-0.000000001'],
])('%p nano-dollars are formatted as %s', (nanos, text) => {
  expect(toDollars(nanos)).toBe(text)
})
