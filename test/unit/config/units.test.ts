import { expect, test } from 'bun:test'
import { parseDuration, parseSize } from '../../../src/config/units.ts'
import { nearMatch } from '../../../src/lib/near-match.ts'

test('a duration is parsed to milliseconds', () => {
  const durations = { '250ms': 250, '30s': 30_000, '5m': 300_000, '1.5h': 5_400_000, '30d': 2_592_000_000 }
  for (const [text, milliseconds] of Object.entries(durations)) expect(parseDuration(text)).toBe(milliseconds)
  expect(parseDuration('0.0001ms')).toBe(1)
  for (const text of ['', '30', 's', '0s', '-1s', '1 s', '1w', '1e3s', '30s '])
    expect(parseDuration(text)).toBeUndefined()
})

test('a size is parsed to bytes', () => {
  const sizes = { '12B': 12, '500kB': 500_000, '1.5KiB': 1536, '32MiB': 33_554_432, '2GB': 2_000_000_000 }
  for (const [text, bytes] of Object.entries(sizes)) expect(parseSize(text)).toBe(bytes)
  expect(parseSize(4096)).toBe(4096)
  for (const text of ['', '32', '0MiB', '1TiB', '-1B', '1 kB', 0, -1]) expect(parseSize(text)).toBeUndefined()
})

test('a mistyped word finds the intended one, and an unrelated one finds none', () => {
  const words = ['attempts', 'port', 'openai', 'azure']
  expect(nearMatch('attempt', words)).toBe('attempts')
  expect(nearMatch('prot', words)).toBe('port')
  expect(nearMatch('OpenAI', words)).toBe('openai')
  expect(nearMatch('azzure', words)).toBe('azure')
  expect(nearMatch('timeout', words)).toBeUndefined()
  expect(nearMatch('', words)).toBeUndefined()
})
