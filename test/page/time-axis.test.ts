import { expect, test } from 'bun:test'
import { timeTicks } from '../../src/page/components/time-axis.ts'

/** Seconds. */
const day = 86_400

test.each([
  ['an hour', 60, 60],
  ['24 hours', 3600, 25],
  ['five days', 3600, 120],
  ['a week', 3600, 169],
  ['eight days', day, 8],
  ['30 days', day, 31],
  ['90 days', day, 90],
  ['150 days', day, 150],
  ['two years', day, 731],
  ['ten years', day, 3653],
])('the axis of %s has three ticks and more, which are apart, whenever it begins', (_, step, count) => {
  for (const width of [214, 420, 900])
    for (let offset = 0; offset < 400; offset += 7) {
      const first = Date.parse('2025-01-01') / 1000 + offset * Math.max(step, 3600)
      const times = Array.from({ length: count }, (_, index) => first + index * step)
      const { times: ticks, labels } = timeTicks(times, step, width)
      const gaps = ticks.slice(1).map((tick, index) => ((tick - ticks[index]!) * width) / step / count)
      expect(ticks.length).toBeGreaterThanOrEqual(3)
      expect(Math.min(...gaps)).toBeGreaterThan(38)
      expect(labels.filter((label, index) => label === labels[index - 1])).toEqual([])
    }
})

test('a tick is the label of a time, of a day at midnight, and of a year in January', () => {
  const times = (first: string, step: number, count: number) =>
    Array.from({ length: count }, (_, index) => Date.parse(first) / 1000 + index * step)
  expect(timeTicks(times('2026-10-20', day, 160), day, 300).labels).toEqual([
    'Nov 2026',
    'Dec',
    'Jan 2027',
    'Feb',
    'Mar',
  ])
  expect(timeTicks(times('2026-11-01', day, 10), day, 300).labels.slice(0, 2)).toEqual(['Nov 1', 'Nov 3'])
  const hours = timeTicks(times('2026-11-01T20:00:00', 3600, 12), 3600, 300).labels
  expect(hours.map((label) => label.replace('\u202F', ' '))).toEqual([
    '9:00 PM',
    'Nov 2',
    '3:00 AM',
    '6:00 AM',
  ])
})
