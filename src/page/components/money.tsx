import { formatRoundedUsd, parseUsd } from '../../lib/usd.ts'

/** An amount in USD, exact in its title, rounded to `decimals` for the eye. Takes a decimal text or a number of JSON. */
export function Money({ usd, decimals = 4 }: { readonly usd: string | number; readonly decimals?: number }) {
  const exact = decimalText(usd)
  const nanos = parseUsd(exact)
  if (nanos === undefined) return <span class="number">–</span>
  return (
    <span class="number" title={`$${exact}`}>
      {withDollar(formatRoundedUsd(nanos, decimals))}
    </span>
  )
}

/**
 * The decimal text of an amount. A number of JSON has at most nine decimals, and below a million dollars a float has
 * them all: its shortest text is the one that was sent.
 */
export function decimalText(usd: string | number): string {
  if (typeof usd === 'string') return usd
  const text = usd.toFixed(9)
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text
}

function withDollar(amount: string): string {
  return amount.replace(/^([<>]?-?)/, '$1$')
}
