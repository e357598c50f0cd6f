import { formatUsd } from '../../lib/usd.ts'
import type { AnswerUsage } from './answer.ts'

/** The prices of a model in USD per million tokens, as in the list of the models. */
export type ModelPrices = {
  readonly input: number | null
  readonly output: number | null
  readonly cache_read: number | null
  readonly request: number | null
}

/**
 * The cost of an answer at the listed prices, as an exact decimal text; undefined without prices. A stream does not carry
 * the amount that was charged, which differs for long prompts with a tier of their own, and for cache writes.
 */
export function listedCost(usage: AnswerUsage, prices: ModelPrices | null): string | undefined {
  if (prices === null || (prices.input === null && prices.request === null)) return undefined
  const input = prices.input ?? 0
  const millionths =
    product(usage.input - usage.cached, input) +
    product(usage.cached, prices.cache_read ?? input) +
    product(usage.output, prices.output ?? 0)
  return formatUsd((millionths + 500_000n) / 1_000_000n + toNanos(prices.request ?? 0))
}

function product(tokens: number, price: number): bigint {
  return BigInt(tokens) * toNanos(price)
}

function toNanos(dollars: number): bigint {
  return BigInt(Math.round(dollars * 1e9))
}
