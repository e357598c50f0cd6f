import { expect, test } from 'bun:test'
import { isTimeZone, periodAt } from '../../../../src/domain/accounting/budget-period.ts'
import type { BudgetPeriod } from '../../../../src/domain/accounting/allowance.ts'

function periodOf(period: BudgetPeriod, timeZone: string, time: string): readonly (string | undefined)[] {
  const { start, end } = periodAt(period, timeZone, Date.parse(time))
  return [start, end].map((at) => (at === undefined ? undefined : new Date(at).toISOString()))
}

test('a period begins and ends by the calendar of its time zone', () => {
  const time = '2026-11-25T03:30:00Z'
  expect(periodOf('day', 'UTC', time)).toEqual(['2026-11-25T00:00:00.000Z', '2026-11-26T00:00:00.000Z'])
  expect(periodOf('week', 'UTC', time)).toEqual(['2026-11-23T00:00:00.000Z', '2026-11-30T00:00:00.000Z'])
  expect(periodOf('month', 'UTC', time)).toEqual(['2026-11-01T00:00:00.000Z', '2026-12-01T00:00:00.000Z'])
  expect(periodOf('day', 'America/New_York', time)).toEqual([
    '2026-11-24T05:00:00.000Z',
    '2026-11-25T05:00:00.000Z',
  ])
  expect(periodOf('month', 'Asia/Tokyo', '2026-11-30T15:00:00Z')).toEqual([
    '2026-11-30T15:00:00.000Z',
    '2026-12-31T15:00:00.000Z',
  ])
})

test('a budget without periods has one that never ends', () => {
  expect(periodAt('none', 'UTC', Date.now())).toEqual({ start: 0, end: undefined })
})

test('a day on which the clocks change has 23 or 25 hours, and begins where midnight is skipped', () => {
  const [spring, nextDay] = periodOf('day', 'Europe/Berlin', '2026-03-29T12:00:00Z')
  expect([spring, nextDay]).toEqual(['2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z'])
  expect(periodOf('day', 'Europe/Berlin', '2026-10-25T12:00:00Z')).toEqual([
    '2026-10-24T22:00:00.000Z',
    '2026-10-25T23:00:00.000Z',
  ])
  expect(periodOf('day', 'Africa/Cairo', '2026-04-24T12:00:00Z')[0]).toBe('2026-04-23T22:00:00.000Z')
})

test('the first and the last moment of a period are in it, also after the clock was set back', () => {
  const { start, end = 0 } = periodAt('day', 'UTC', Date.parse('2026-11-25T10:00:00Z'))
  expect(periodAt('day', 'UTC', end).start).toBe(end)
  expect(periodAt('day', 'UTC', end - 1).start).toBe(start)
  expect(periodAt('day', 'UTC', start).start).toBe(start)
})

test('only names of time zones are accepted', () => {
  expect(['UTC', 'Europe/Berlin', 'Mars/Base', ''].map(isTimeZone)).toEqual([true, true, false, false])
})
