import { expect, test } from 'bun:test'
import { randomText, timeSortedId } from '../../src/lib/id.ts'

test('ids sort by the time of their making, as bytes and as JavaScript compares them', () => {
  const times = [0, 61, 62, 1_000_000, 1_795_221_079_492_000, 1_795_221_079_492_001, 9_000_000_000_000_000]
  const ids = times.map((time) => timeSortedId('x_', time))
  expect(ids.toSorted()).toEqual(ids)
  expect(ids.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))).toEqual(ids)
})

test('an id is its prefix and 24 letters or digits, and no two are equal', () => {
  const ids = Array.from({ length: 2000 }, () => timeSortedId('org_'))
  for (const id of ids) expect(id).toMatch(/^org_[0-9A-Za-z]{24}$/)
  expect(new Set(ids).size).toBe(ids.length)
})

test('ids of the same microsecond differ', () => {
  expect(timeSortedId('a_', 5)).not.toBe(timeSortedId('a_', 5))
  expect(timeSortedId('a_', 5).slice(0, 11)).toBe('a_000000005')
})

test('random text has the length that was asked for and favours no character', () => {
  expect(randomText(0)).toBe('')
  expect(randomText(1)).toHaveLength(1)
  const counts = new Map<string, number>()
  for (const character of randomText(62_000)) counts.set(character, (counts.get(character) ?? 0) + 1)
  expect(counts.size).toBe(62)
  // A thousand each, give or take: eight standard deviations never happen by chance.
  for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(256)
})
