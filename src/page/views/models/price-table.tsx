import { Facts } from '../../components/facts.tsx'
import { formatPrice, type Prices } from './model.ts'

const tokenPrices = [
  ['input', 'Input'],
  ['cache_read', 'Cached input'],
  ['cache_write', 'Cache write'],
  ['output', 'Output'],
] as const

const otherPrices = [
  ['request', 'request'],
  ['image', 'image'],
] as const

/** The known prices of a model, exact. */
export function PriceTable({ prices }: { readonly prices: Prices | null }) {
  const facts = [
    ...tokenPrices.map(([name, label]) => [label, formatPrice(prices?.[name])] as const),
    ...otherPrices.map(([name, label]) => [`Each ${label}`, formatPrice(prices?.[name])] as const),
  ].filter(([, price]) => price !== undefined)
  if (facts.length === 0)
    return <p class="quiet">The price is unknown: requests are recorded without a cost.</p>
  return <Facts facts={facts} />
}
