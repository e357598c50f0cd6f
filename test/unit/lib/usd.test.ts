import { expect, test } from 'bun:test'
import { parseUsd, formatUsd } from '../../../src/lib/usd.ts'

test.each([
  [0, '0.00'],
  [1, '0.000000001'],
  [10_000_000, '0.01'],
  [12_500_000_000, '12.50'],
  [12_345_678_900, '12.3456789'],
  [-1_000_000_000, '-1.00'],
  [123_456_789_012_345_678_901n, '123456789012.345678901'],
])('%p nano-dollars are %p', (amount, text) => {
  expect(formatUsd(amount)).toBe(text)
})

test('an amount has at least the requested decimals, and never loses one', () => {
  expect(formatUsd(4_500_000n, 9)).toBe('0.004500000')
  expect(formatUsd(1n, 2)).toBe('0.000000001')
})

test.each([
  ['0', 0n],
  ['25', 25_000_000_000n],
  ['12.5', 12_500_000_000n],
  ['+0.1', 100_000_000n],
  ['-0.000000001', -1n],
  ['9007199.254740993', 9_007_199_254_740_993n],
  ['0012.50', 12_500_000_000n],
])('%p USD are %p nano-dollars', (text, amount) => {
  expect(parseUsd(text)).toBe(amount)
})

test.each(['', '.', '5.', '.5', '1e3', '1,000', '$5', '5 ', '--5', '0x10', 'NaN', '1.0000000001', '1.2.3'])(
  '%p is not an amount',
  (text) => {
    expect(parseUsd(text)).toBeUndefined()
  },
)
