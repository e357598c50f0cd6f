import { expect, test } from 'bun:test'
import { LeasedBucket } from '../../../src/storage/postgres/cluster/leased-bucket.ts'

const now = 1_800_000_000_000

function bucketOf(limit: number): LeasedBucket {
  return new LeasedBucket({ organization: 'acme', kind: 'requests' }, limit, () => now)
}

/** A bucket of 6000 a minute with a quantum of 20, of which a request has taken one. */
async function usedBucket(): Promise<LeasedBucket> {
  const bucket = bucketOf(6000)
  expect(bucket.take(1)).toBeUndefined()
  const first = bucket.ask(1)
  expect(bucket.begin()).toMatchObject({ needs: [1], ahead: 20, correction: 0 })
  bucket.receive({ granted: [true], ahead: 20, spent: 21 * 60_000 })
  expect(await first).toBe(0)
  return bucket
}

/** Whether a renewal is due after each of the four ticks of a period. */
function ticksOf(bucket: LeasedBucket): readonly boolean[] {
  return Array.from({ length: 4 }, () => {
    bucket.tick()
    return bucket.isDue()
  })
}

const quiet = [false, false, false, false]
const dueAtEnd = [false, false, false, true]

test('a bucket of less than 600 a minute leases exactly what its requests need', async () => {
  const bucket = bucketOf(599)
  expect(bucket.take(1)).toBeUndefined()
  const first = bucket.ask(1)
  expect(bucket.begin()).toMatchObject({ needs: [1], ahead: 0 })
  bucket.receive({ granted: [true], ahead: 0, spent: 60_000 })
  expect(await first).toBe(0)
  expect(bucket.isDue()).toBe(false)
  bucket.charge(-1)
  expect(bucket.isUrgent()).toBe(true)
  expect(bucket.begin()).toMatchObject({ needs: [], ahead: 0, correction: -1 })
})

test('a bucket leases its quantum again when half of it is used', async () => {
  const bucket = await usedBucket()
  bucket.tick()
  for (let index = 0; index < 10; index++) expect(bucket.take(1)).toBe(0)
  expect(bucket.isUrgent()).toBe(false)
  expect(bucket.take(1)).toBe(0)
  expect(bucket.isUrgent()).toBe(true)
  expect(bucket.begin()).toMatchObject({ needs: [], ahead: 11, correction: 0 })
})

test('a bucket that was renewed since the last tick is renewed again with the next one', async () => {
  const bucket = await usedBucket()
  for (let index = 0; index < 15; index++) bucket.take(1)
  bucket.begin()
  bucket.receive({ granted: [], ahead: 3, spent: 6000 * 60_000 })
  expect(bucket.isUrgent()).toBe(false)
  bucket.tick()
  expect(bucket.isUrgent()).toBe(true)
})

test('a bucket that was renewed since the last tick refuses what is not there without a renewal', async () => {
  const bucket = await usedBucket()
  for (let index = 0; index < 20; index++) bucket.take(1)
  bucket.begin()
  bucket.receive({ granted: [], ahead: 3, spent: 6000 * 60_000 })
  expect(bucket.take(4)).toBe(10)
  bucket.tick()
  expect(bucket.take(4)).toBeUndefined()
})

test('a quantum that was not used for four ticks is returned', async () => {
  const bucket = await usedBucket()
  expect(ticksOf(bucket)).toEqual(quiet)
  expect(ticksOf(bucket)).toEqual(dueAtEnd)
  expect(bucket.begin()).toMatchObject({ needs: [], ahead: 0, correction: -20 })
  bucket.receive({ granted: [], ahead: 0, spent: 60_000 })
  expect(bucket.isIdle()).toBe(true)
})

test('of what is given back, the part beyond the quantum that was not used for four ticks is returned', async () => {
  const bucket = await usedBucket()
  bucket.charge(-30)
  expect(ticksOf(bucket)).toEqual(quiet)
  expect(bucket.take(45)).toBe(0)
  bucket.charge(-45)
  expect(ticksOf(bucket)).toEqual(quiet)
  expect(bucket.take(10)).toBe(0)
  bucket.charge(-5)
  expect(ticksOf(bucket)).toEqual(dueAtEnd)
  expect(bucket.begin()).toMatchObject({ needs: [], ahead: 0, correction: -20 })
})

test('a request that comes while a renewal runs is served from what that brings', async () => {
  const bucket = bucketOf(6000)
  bucket.take(1)
  void bucket.ask(1)
  bucket.begin()
  const later = bucket.ask(5)
  bucket.receive({ granted: [true], ahead: 20, spent: 21 * 60_000 })
  expect(await later).toBe(0)
  expect(bucket.isDue()).toBe(false)
})

test('a renewal that fails leaves the bucket as it was', async () => {
  const bucket = await usedBucket()
  const before = bucket.status()
  bucket.charge(50)
  const rejected = bucket.ask(1)
  expect(bucket.begin()).toMatchObject({ needs: [1], correction: 30 })
  bucket.fail(new Error('The database is down.'))
  await expect(rejected).rejects.toThrow('The database is down.')
  bucket.charge(-50)
  expect(bucket.status()).toEqual(before)
})

test('what is granted to a request that was rejected meanwhile is returned, a debt of one minute at most', async () => {
  const bucket = bucketOf(500)
  bucket.take(5000)
  const rejected = bucket.ask(5000)
  expect(bucket.begin()).toMatchObject({ needs: [5000] })
  bucket.abandon(new Error('The database is slow.'))
  await expect(rejected).rejects.toThrow('The database is slow.')
  bucket.receive({ granted: [true], ahead: 0, spent: 1000 * 60_000 })
  expect(bucket.begin()).toMatchObject({ needs: [], correction: -1000 })
})

test('a renewal that began before the limit was changed does not bring the earlier limit back', async () => {
  const bucket = bucketOf(6000)
  bucket.take(1)
  const first = bucket.ask(1)
  expect(bucket.begin()).toMatchObject({ limit: 6000 })
  bucket.resize(60)
  bucket.receive({ granted: [true], ahead: 20, spent: 21 * 60_000 })
  expect(await first).toBe(0)
  expect(bucket.limit).toBe(60)
  expect(bucket.take(1)).not.toBe(0)
  expect(bucket.status().limit).toBe(60)
})
