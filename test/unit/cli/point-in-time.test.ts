import { expect, test } from 'bun:test'
import { parsePointInTime } from '../../../src/cli/point-in-time.ts'

const now = Date.parse('2026-11-25T23:30:00Z')

test.each([
  ['now', '2026-11-25T23:30:00.000Z'],
  ['today', '2026-11-25T00:00:00.000Z'],
  ['yesterday', '2026-11-24T00:00:00.000Z'],
  ['36h', '2026-11-24T11:30:00.000Z'],
  ['2026-11-22', '2026-11-22T00:00:00.000Z'],
  ['2024-02-29', '2024-02-29T00:00:00.000Z'],
  ['2026-11-22T08:15', '2026-11-22T08:15:00.000Z'],
  ['2026-11-22 08:15:30', '2026-11-22T08:15:30.000Z'],
  ['2026-11-22T08:15:30+02:00', '2026-11-22T06:15:30.000Z'],
])('the point in time %s is %s', (text, expected) => {
  expect(new Date(parsePointInTime(text, now) ?? Number.NaN).toISOString()).toBe(expected)
})

test.each([
  '',
  'tomorrow',
  '7',
  '-1d',
  '99999999d',
  '2026-02-30',
  '2026-13-01',
  '22.11.2026',
  '2026-11-22T25:00',
])('“%s” is no point in time', (text) => {
  expect(parsePointInTime(text, now)).toBeUndefined()
})
