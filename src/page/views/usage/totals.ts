import { parseUsd } from '../../../lib/usd.ts'
import { decimalText } from '../../components/money.tsx'
import type { Grouping } from './grouping.ts'
import type { Figures } from './report.ts'

/** The sums of a group over all buckets. */
export type Totals = {
  /** Null for requests without one. */
  readonly value: string | null
  readonly requests: number
  readonly failed: number
  readonly inputTokens: number
  readonly cachedTokens: number
  readonly outputTokens: number
  readonly reasoningTokens: number
  /** Billionths of a dollar, exact; null where no cost is known. */
  readonly cost: bigint | null
  readonly unpriced: number
}

const nothing: Totals = {
  value: null,
  requests: 0,
  failed: 0,
  inputTokens: 0,
  cachedTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  cost: null,
  unpriced: 0,
}

/** Adds the buckets up, by group; a single sum where they are not grouped. */
export function totalsOf({ usage, costs }: Figures, by: Grouping): readonly Totals[] {
  const sums = new Map<string | null, Totals>()
  const of = (value: string | null) => sums.get(value) ?? { ...nothing, value }
  for (const result of usage.flatMap(({ results }) => results)) {
    const value = result[by] ?? null
    const sum = of(value)
    sums.set(value, {
      ...sum,
      requests: sum.requests + result.num_model_requests,
      failed: sum.failed + result.num_failed_requests,
      inputTokens: sum.inputTokens + result.input_tokens,
      cachedTokens: sum.cachedTokens + result.input_cached_tokens,
      outputTokens: sum.outputTokens + result.output_tokens,
      reasoningTokens: sum.reasoningTokens + result.output_reasoning_tokens,
    })
  }
  for (const result of costs.flatMap(({ results }) => results)) {
    const value = result[by] ?? null
    const sum = of(value)
    const cost = nanosOf(result.amount.value)
    sums.set(value, {
      ...sum,
      cost: cost === null ? sum.cost : (sum.cost ?? 0n) + cost,
      unpriced: sum.unpriced + result.num_unpriced_requests,
    })
  }
  return [...sums.values()]
}

/** The sum of everything. */
export function grandTotal(figures: Figures): Totals {
  return totalsOf(figures, 'none')[0] ?? nothing
}

/** An amount of the API in billionths of a dollar. */
export function nanosOf(value: number | string | null): bigint | null {
  return value === null ? null : (parseUsd(decimalText(value)) ?? null)
}
