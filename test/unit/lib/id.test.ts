import { expect, test } from 'bun:test'
import { randomText, timeOf, timeSortedId } from '../../../src/lib/id.ts'

test('an id is its prefix and 32 digits, and successive ids sort in their order', () => {
  const ids = Array.from({ length: 5000 }, () => timeSortedId('org_'))
  for (const id of ids) expect(id).toMatch(/^org_[0-9a-f]{32}$/)
  expect(ids.toSorted()).toEqual(ids)
  expect(new Set(ids).size).toBe(ids.length)
})

test('an id contains its creation time', () => {
  const before = Date.now()
  const time = timeOf(timeSortedId('req_'))
  expect(time).toBeGreaterThanOrEqual(before)
  expect(time).toBeLessThanOrEqual(Date.now())
  expect(timeOf('req_0199d9a3f2c07abc8def0123456789ab')).toBe(0x0199d9a3f2c0)
})

test('random text has the requested length and a uniform distribution', () => {
  expect(randomText(0)).toBe('')
  expect(randomText(1)).toHaveLength(1)
  const counts = new Map<string, number>()
  for (const character of randomText(62_000)) counts.set(character, (counts.get(character) ?? 0) + 1)
  expect(counts.size).toBe(62)
  // A thousand each, give or take: eight standard deviations never happen by chance.
  for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(256)
})
