import type { Nanos } from '../../lib/usd.ts'

/** The most that a column holds and a number says exactly, on either side of zero: 9 million USD. */
export const maxNanos = BigInt(Number.MAX_SAFE_INTEGER)

/** The nearest amount that a column can hold: a provider may report any number of tokens. */
export function clampToColumn(amount: Nanos): Nanos {
  if (amount < 0n) return 0n
  return amount > maxNanos ? maxNanos : amount
}
