/** An amount of nano-dollars as a decimal number of USD, exact, with two decimals at least: `12.50`. */
export function usdText(nanoDollars: number | bigint): string {
  const amount = BigInt(nanoDollars)
  const digits = String(amount < 0n ? -amount : amount).padStart(10, '0')
  const decimals = digits.slice(-9).replace(/0{1,7}$/, '')
  return `${amount < 0n ? '-' : ''}${digits.slice(0, -9)}.${decimals}`
}
