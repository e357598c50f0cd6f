import { expect, test } from 'bun:test'
import { usdText } from '../../src/lib/usd.ts'

test.each([
  [0, '0.00'],
  [1, '0.000000001'],
  [10_000_000, '0.01'],
  [12_500_000_000, '12.50'],
  [12_345_678_900, '12.3456789'],
  [-1_000_000_000, '-1.00'],
  [123_456_789_012_345_678_901n, '123456789012.345678901'],
])('%p nano-dollars are %p', (amount, text) => {
  expect(usdText(amount)).toBe(text)
})
