import { expect, test } from 'bun:test'
import { LeasedBucket } from '../../../src/storage/postgres/cluster/leased-bucket.ts'

const now = 1_800_000_000_000

function bucketOf(limit: number): LeasedBucket {
  return new LeasedBucket('requests', 'acme', limit, () => now)
}

/** A bucket of 6000 a minute with a quantum of 20, of which a request has taken one. */
async function usedBucket(): Promise<LeasedBucket> {
  const bucket = bucketOf(6000)
  expect(bucket.tryTake(1)).toBe(false)
  const first = bucket.ask(1)
  expect(bucket.begin(true)).toMatchObject({ needs: [1], spare: 20, correction: 0 })
  bucket.receive({ granted: [true], spare: 20, spent: 21 * 60_000 })
  expect(await first).toBe(0)
  return bucket
}

test('a bucket of less than 600 a minute leases exactly what its requests need', async () => {
  const bucket = bucketOf(599)
  expect(bucket.tryTake(1)).toBe(false)
  const first = bucket.ask(1)
  expect(bucket.begin(true)).toMatchObject({ needs: [1], spare: 0 })
  bucket.receive({ granted: [true], spare: 0, spent: 60_000 })
  expect(await first).toBe(0)
  expect(bucket.isDue(true)).toBe(false)
  bucket.charge(-1)
  expect(bucket.isUrgent()).toBe(true)
  expect(bucket.begin(true)).toMatchObject({ needs: [], spare: 0, correction: -1 })
})

test('a bucket leases its quantum again when half of it is used', async () => {
  const bucket = await usedBucket()
  for (let index = 0; index < 10; index++) expect(bucket.tryTake(1)).toBe(true)
  expect(bucket.isUrgent()).toBe(false)
  expect(bucket.tryTake(1)).toBe(true)
  expect(bucket.isUrgent()).toBe(true)
  expect(bucket.begin(true)).toMatchObject({ needs: [], spare: 11, correction: 0 })
})

test('a bucket that the last renewal has emptied is not asked for a quantum at once', async () => {
  const bucket = await usedBucket()
  for (let index = 0; index < 15; index++) bucket.tryTake(1)
  bucket.begin(true)
  bucket.receive({ granted: [], spare: 3, spent: 6000 * 60_000 })
  expect(bucket.isUrgent()).toBe(false)
  expect(bucket.refusalOf(9)).toBe(10)
})

test('a quantum that was not used for five ticks is returned', async () => {
  const bucket = await usedBucket()
  expect([1, 2, 3, 4].map(() => bucket.tick())).toEqual([false, false, false, false])
  expect(bucket.tick()).toBe(true)
  expect(bucket.begin(true)).toMatchObject({ needs: [], spare: 0, correction: -20 })
  bucket.receive({ granted: [], spare: 0, spent: 60_000 })
  expect(bucket.isIdle()).toBe(true)
})

test('a request that comes while a renewal runs is served from what that brings', async () => {
  const bucket = bucketOf(6000)
  bucket.tryTake(1)
  void bucket.ask(1)
  bucket.begin(true)
  const later = bucket.ask(5)
  bucket.receive({ granted: [true], spare: 20, spent: 21 * 60_000 })
  expect(await later).toBe(0)
  expect(bucket.isDue(true)).toBe(false)
})

test('a renewal that fails leaves the bucket as it was', async () => {
  const bucket = await usedBucket()
  const before = bucket.status()
  bucket.charge(50)
  const rejected = bucket.ask(1)
  expect(bucket.begin(true)).toMatchObject({ needs: [1], correction: 30 })
  bucket.fail(new Error('The database is down.'))
  await expect(rejected).rejects.toThrow('The database is down.')
  bucket.charge(-50)
  expect(bucket.status()).toEqual(before)
})

test('a renewal that began before the limit was changed does not bring the earlier limit back', async () => {
  const bucket = bucketOf(6000)
  bucket.tryTake(1)
  const first = bucket.ask(1)
  expect(bucket.begin(true)).toMatchObject({ limit: 6000 })
  bucket.resize(60)
  bucket.receive({ granted: [true], spare: 20, spent: 21 * 60_000 })
  expect(await first).toBe(0)
  expect(bucket.limit).toBe(60)
  expect(bucket.tryTake(1)).toBe(false)
  expect(bucket.status().limit).toBe(60)
})
