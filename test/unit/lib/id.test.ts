import { expect, test } from 'bun:test'
import { createTimeSortedId, randomText, startOfIds, timeOf, timeSortedId } from '../../../src/lib/id.ts'

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

/** A generator with a clock that the test sets. */
function withClock(start: number) {
  const clock = { now: start }
  const create = createTimeSortedId(() => clock.now)
  return { clock, create: (count = 1) => Array.from({ length: count }, () => create('req_')) }
}

const moment = Date.UTC(2026, 0, 1)

test('successive ids sort in their order however many there are of one time, and when the clock goes back a little', () => {
  const { clock, create } = withClock(moment)
  const ids = create(20_000)
  for (const slip of [1, 30_000, 59_000, 5, 0]) {
    clock.now = moment - slip
    ids.push(...create(5000))
  }
  clock.now = moment + 1
  ids.push(...create(5000))
  expect(ids.toSorted()).toEqual(ids)
  expect(new Set(ids).size).toBe(ids.length)
  // As much later as there are of one time, and no more.
  expect(timeOf(ids.at(-1)!) - moment).toBeLessThan(30)
})

test('after a clock that ran ahead is corrected, ids have the true time again, and are still unique and sorted', () => {
  const { clock, create } = withClock(moment)
  const before = create(3000)
  clock.now = moment + 86_400_000
  const ahead = create(3000)
  clock.now = moment + 1000
  const after = create(3000)
  clock.now = moment + 1001
  after.push(...create(3000))
  expect(timeOf(ahead[0]!)).toBe(moment + 86_400_000)
  expect(timeOf(after[0]!)).toBe(moment + 1000)
  expect(timeOf(after.at(-1)!) - moment).toBeLessThan(1010)
  const expected = [...before, ...after, ...ahead]
  expect(expected.toSorted()).toEqual(expected)
  expect(new Set(expected).size).toBe(expected.length)
})

test('the start of the ids of a time sorts between them and those before, whatever the time', () => {
  const ids = [moment - 1, moment].flatMap((time) => createTimeSortedId(() => time)('req_'))
  expect([...ids, startOfIds('req_', moment)].toSorted()[1]).toBe(startOfIds('req_', moment))
  expect(startOfIds('req_', moment + 0.9)).toBe(startOfIds('req_', moment))
  expect(startOfIds('req_', -1)).toBe('req_000000000000')
  for (const time of [2 ** 48, Infinity]) expect(startOfIds('req_', time)).toBe('req_ffffffffffff')
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
