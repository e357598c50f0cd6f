/** Nano-dollars: billionths of a US dollar, the unit of every amount in the gateway. */
export type Nanos = bigint

/** The highest absolute amount that is stored, because a number represents it exactly: 9 million USD. */
export const maxNanos = BigInt(Number.MAX_SAFE_INTEGER)

/** Formats an amount as an exact decimal number of USD with at least `decimals` decimals: `12.50`. */
export function formatUsd(amount: Nanos | number, decimals = 2): string {
  const nanos = typeof amount === 'bigint' ? amount : BigInt(amount)
  const digits = String(nanos < 0n ? -nanos : nanos).padStart(10, '0')
  const exact = digits.slice(-9)
  const fraction = decimals < 9 ? exact.replace(/0+$/, '').padEnd(decimals, '0') : exact
  return `${nanos < 0n ? '-' : ''}${digits.slice(0, -9)}.${fraction}`
}

/** Parses a decimal number of USD exactly; returns undefined for any other text or more than nine decimals. */
export function parseUsd(usd: string): Nanos | undefined {
  const [, sign, integer = '', fraction = ''] = /^([+-]?)(\d+)(?:\.(\d{1,9}))?$/.exec(usd) ?? []
  if (sign === undefined) return undefined
  const nanos = BigInt(integer + fraction.padEnd(9, '0'))
  return sign === '-' ? -nanos : nanos
}

/** Formats an amount rounded half away from zero; `<0.0001` if it would round to zero. */
export function formatRoundedUsd(amount: Nanos, decimals = 4): string {
  const unit = 10n ** BigInt(9 - decimals)
  const size = amount < 0n ? -amount : amount
  const rounded = ((size + unit / 2n) / unit) * unit
  if (rounded === 0n && size > 0n) return `${amount < 0n ? '>-' : '<'}${formatUsd(unit, decimals)}`
  return formatUsd(amount < 0n ? -rounded : rounded, decimals)
}
