import { expect, test } from 'bun:test'
import { type RangeName, readDays, spanOf } from '../../src/page/views/usage/period.ts'

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

test('a range begins with the bucket that it begins in, so that a list has what a report counts', () => {
  const now = Date.parse('2026-11-29T07:18:27Z') / 1000
  const startOf = (range: RangeName) => new Date(spanOf(range, now).start * 1000).toISOString()
  expect(startOf('1h')).toBe('2026-11-29T06:18:00.000Z')
  expect(startOf('24h')).toBe('2026-11-28T07:00:00.000Z')
  expect(startOf('7d')).toBe('2026-11-22T07:00:00.000Z')
  expect(startOf('30d')).toBe('2026-10-30T00:00:00.000Z')
  expect(spanOf('24h', now).end).toBe(now)
})

test('a period of days has all of its last day; up to a week is shown by the hour', () => {
  const start = Date.parse('2026-11-01') / 1000
  const spanOfDays = (days: number) =>
    spanOf({ first: '2026-11-01', last: `2026-11-0${days}` }, Date.parse('2027-01-01') / 1000)
  expect(spanOfDays(7)).toEqual({ start, end: start + 7 * 86_400, width: '1h' })
  expect(spanOfDays(8)).toEqual({ start, end: start + 8 * 86_400, width: '1d' })
})
