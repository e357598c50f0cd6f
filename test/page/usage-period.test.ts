import { expect, test } from 'bun:test'
import { readDays, spanOf } from '../../src/page/views/usage/period.ts'

test('days are a period if they exist, are in order and at most ten years', () => {
  expect(readDays('2026-11-01', '2026-11-01')).toEqual({ first: '2026-11-01', last: '2026-11-01' })
  for (const [from, to] of [
    ['2026-11-02', '2026-11-01'],
    ['2026-02-31', '2026-03-01'],
    ['0202-11-01', '2026-11-01'],
    ['2001-01-01', '2026-11-01'],
    ['', '2026-11-01'],
    [null, null],
  ] as const)
    expect(readDays(from, to)).toBeUndefined()
})

test('a period of days has all of its last day; up to a week is shown by the hour', () => {
  const start = Date.parse('2026-11-01') / 1000
  const spanOfDays = (days: number) =>
    spanOf({ first: '2026-11-01', last: `2026-11-0${days}` }, Date.parse('2027-01-01') / 1000)
  expect(spanOfDays(7)).toEqual({ start, end: start + 7 * 86_400, width: '1h' })
  expect(spanOfDays(8)).toEqual({ start, end: start + 8 * 86_400, width: '1d' })
})
