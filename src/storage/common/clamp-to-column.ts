import type { Nanos } from '../../lib/usd.ts'

/** The highest absolute amount that a column holds and a number represents exactly: 9 million USD. */
export const maxNanos = BigInt(Number.MAX_SAFE_INTEGER)

/** Returns the nearest amount that a column can hold: a provider may report any number of tokens. */
export function clampToColumn(amount: Nanos): Nanos {
  if (amount < 0n) return 0n
  return amount > maxNanos ? maxNanos : amount
}
