import type { Pricing } from '../../config/model-facts.ts'
import type { SourceCost } from './source.ts'

type Prices = Pick<SourceCost, 'input' | 'output' | 'cache_read' | 'cache_write'>

/** The prices, in USD per million tokens on both sides. */
export function toPricing(cost: SourceCost | undefined): Pricing | undefined {
  if (!cost) return undefined
  const pricing = toPrices({ ...cost, cache_read: cost.cache_read ?? cost.cached_input })
  const tiers = toTiers(cost)
  return tiers.length > 0 ? { ...pricing, tiers } : pricing
}

/** A cache price of zero stands for one that is not known: nobody gives cached tokens away. */
function toPrices({ input, output, cache_read, cache_write }: Prices): Prices {
  return { input, output, cache_read: cache_read || undefined, cache_write: cache_write || undefined }
}

function toTiers({ tiers, context_over_200k: over }: SourceCost): NonNullable<Pricing['tiers']> {
  if (tiers) return tiers.map(({ tier, ...prices }) => ({ above: tier.size, ...toPrices(prices) }))
  return over ? [{ above: 200_000, ...toPrices(over) }] : []
}
