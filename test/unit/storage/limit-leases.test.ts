import { describe, expect, test } from 'bun:test'
import type { BucketRenewal, SlotRenewal } from '../../../src/storage/postgres/cluster/lease-renewal.ts'
import { type OpenStore, type SharedTestStore, testSharedStores, valuesOf } from './support/stores.ts'

/** A store with an organization and these processes, on a clock that a test turns. */
async function openLeases(open: OpenStore<SharedTestStore>, ...processes: readonly string[]) {
  const clock = { now: 1_800_000_000_000 }
  const store = await open({ clock: () => clock.now })
  const { renewLeases: renew } = store
  const { id } = await store.organizations.create('acme')
  for (const process of processes) await store.shared.processes.register(process)

  /** Takes what requests need from a bucket, and returns what was granted, how much spare, and what is left. */
  async function take(
    process: string,
    needs: readonly number[],
    more: Partial<BucketRenewal> = {},
  ): Promise<{ granted: readonly boolean[]; spare: number; left: number }> {
    const bucket = {
      organization: id,
      kind: 'requests',
      limit: 100,
      needs,
      spare: 0,
      correction: 0,
      ...more,
    } as const
    const { buckets } = await renew(process, { buckets: [bucket], slots: [] })
    const { granted, spare, spent } = buckets[0]!
    return { granted, spare, left: bucket.limit - spent / 60_000 }
  }

  async function hold(process: string, needed: number, more: Partial<SlotRenewal> = {}) {
    const wanted = { organization: id, kind: 'concurrent', limit: 10, needed, spare: 0, ...more } as const
    const { slots } = await renew(process, { buckets: [], slots: [wanted] })
    return slots[0]
  }

  return { store, id, clock, renew, take, hold }
}

testSharedStores((open) => {
  describe('a bucket that processes share', () => {
    test('grants its limit, whichever process asks, each need whole or not at all', async () => {
      const { take } = await openLeases(open, 'one', 'two')
      expect(await take('one', [60])).toEqual({ granted: [true], spare: 0, left: 40 })
      expect(await take('two', [30, 20, 10])).toEqual({ granted: [true, false, true], spare: 0, left: 0 })
      expect(await take('one', [1])).toEqual({ granted: [false], spare: 0, left: 0 })
    })

    test('refills with time, up to its limit', async () => {
      const { take, clock } = await openLeases(open, 'one')
      await take('one', [100])
      clock.now += 599
      expect((await take('one', [1])).granted).toEqual([false])
      clock.now += 1
      expect((await take('one', [1])).granted).toEqual([true])
      clock.now += 3_600_000
      expect((await take('one', [])).left).toBe(100)
    })

    test('grants as much of the spare as it has, and none of it where a need is not granted', async () => {
      const { take } = await openLeases(open, 'one')
      expect(await take('one', [20], { spare: 5 })).toEqual({ granted: [true], spare: 5, left: 75 })
      expect(await take('one', [60, 20], { spare: 5 })).toEqual({
        granted: [true, false],
        spare: 0,
        left: 15,
      })
      expect(await take('one', [10], { spare: 50 })).toEqual({ granted: [true], spare: 5, left: 0 })
      expect(await take('one', [], { spare: 50 })).toEqual({ granted: [], spare: 0, left: 0 })
    })

    test('takes back what was not used, and charges what was used in excess, before it grants', async () => {
      const { take } = await openLeases(open, 'one', 'two')
      await take('one', [100])
      expect(await take('one', [30], { correction: -40 })).toEqual({ granted: [true], spare: 0, left: 10 })
      expect(await take('two', [1], { correction: 10 })).toEqual({ granted: [false], spare: 0, left: 0 })
      expect((await take('two', [], { correction: -1e9 })).left).toBe(100)
      expect((await take('two', [], { correction: 1e9 })).left).toBe(-100)
    })

    test('grants more than its limit only while it is full, and is in debt for a minute at most', async () => {
      const { take, clock } = await openLeases(open, 'one')
      expect((await take('one', [5000, 1])).granted).toEqual([true, false])
      clock.now += 60_000
      expect((await take('one', [1])).granted).toEqual([false])
      clock.now += 600
      expect((await take('one', [1])).granted).toEqual([true])
      expect((await take('one', [5000])).granted).toEqual([false])
    })

    test('keeps the time until it is full when its limit changes', async () => {
      const { take } = await openLeases(open, 'one')
      await take('one', [75])
      expect((await take('one', [], { limit: 1000 })).left).toBe(250)
      expect((await take('one', [], { limit: 8 })).left).toBe(2)
    })

    test('goes on refilling after its clock was set back', async () => {
      const { take, clock } = await openLeases(open, 'one')
      await take('one', [100])
      clock.now -= 86_400_000
      expect((await take('one', [1])).granted).toEqual([false])
      clock.now += 600
      expect((await take('one', [1])).granted).toEqual([true])
    })

    test('is deleted with its organization', async () => {
      const { store, take } = await openLeases(open, 'one')
      const { id: other } = await store.organizations.create('other')
      await take('one', [1])
      await take('one', [1], { organization: other })
      await store.organizations.delete('acme')
      const left = await valuesOf(store, 'SELECT organization_id FROM rate_limit_buckets')
      expect(left).toEqual([[other]])
    })

    test('is not shared with other organizations, nor between requests and tokens', async () => {
      const { store, take } = await openLeases(open, 'one')
      const { id: other } = await store.organizations.create('other')
      await take('one', [100])
      expect((await take('one', [100], { organization: other })).granted).toEqual([true])
      expect((await take('one', [100], { kind: 'tokens' })).granted).toEqual([true])
    })

    test('grants exactly its limit to many renewals at once', async () => {
      const { take } = await openLeases(open, 'one', 'two', 'three')
      const processes = ['one', 'two', 'three']
      const taken = await Promise.all(
        Array.from({ length: 150 }, (_, index) => take(processes[index % 3]!, [1])),
      )
      expect(taken.filter(({ granted }) => granted[0]).length).toBe(100)
    })
  })

  describe('slots that processes share', () => {
    test('are granted up to the limit, and those that are returned to others', async () => {
      const { hold } = await openLeases(open, 'one', 'two')
      expect(await hold('one', 7)).toEqual({ held: 7, others: 0 })
      expect(await hold('two', 5)).toEqual({ held: 3, others: 7 })
      expect(await hold('one', 2)).toEqual({ held: 2, others: 3 })
      expect(await hold('two', 5)).toEqual({ held: 5, others: 2 })
      expect(await hold('one', 0)).toEqual({ held: 0, others: 5 })
      expect(await hold('two', 0)).toEqual({ held: 0, others: 0 })
    })

    test('are kept where the limit is lower by now, and not granted again', async () => {
      const { hold } = await openLeases(open, 'one', 'two')
      await hold('one', 7)
      expect(await hold('one', 8, { limit: 2 })).toEqual({ held: 7, others: 0 })
      expect(await hold('two', 1, { limit: 2 })).toEqual({ held: 0, others: 7 })
      expect(await hold('one', 3, { limit: 2 })).toEqual({ held: 3, others: 0 })
    })

    test('are granted for later as far as they are free', async () => {
      const { hold } = await openLeases(open, 'one', 'two')
      expect(await hold('one', 1, { spare: 4 })).toEqual({ held: 5, others: 0 })
      expect(await hold('two', 4, { spare: 4 })).toEqual({ held: 5, others: 5 })
      expect(await hold('two', 3, { spare: 4 })).toEqual({ held: 5, others: 5 })
      expect(await hold('one', 6, { spare: 4 })).toEqual({ held: 5, others: 5 })
    })

    test('of a process that was removed are free, and their rows are deleted', async () => {
      const { store, hold } = await openLeases(open, 'one', 'two')
      await hold('one', 10)
      expect(await hold('two', 1)).toEqual({ held: 0, others: 10 })
      await store.rows("DELETE FROM processes WHERE id = 'one'")
      expect(await hold('two', 10)).toEqual({ held: 10, others: 0 })
      expect(await valuesOf(store, 'SELECT process_id, held FROM slot_leases')).toEqual([['two', 10]])
    })

    test('are counted separately for queued runs and for other organizations', async () => {
      const { store, hold } = await openLeases(open, 'one', 'two')
      const { id: other } = await store.organizations.create('other')
      await hold('one', 10)
      expect(await hold('two', 10, { kind: 'queued' })).toEqual({ held: 10, others: 0 })
      expect(await hold('two', 10, { organization: other })).toEqual({ held: 10, others: 0 })
    })

    test('are granted exactly up to the limit to many processes at once', async () => {
      const processes = Array.from({ length: 30 }, (_, index) => `process${index}`)
      const { hold } = await openLeases(open, ...processes)
      const grants = await Promise.all(processes.map((process) => hold(process, 1)))
      expect(grants.reduce((sum, grant) => sum + (grant?.held ?? 0), 0)).toBe(10)
    })
  })

  describe('a renewal', () => {
    test('of several limits answers in their order', async () => {
      const { store, id, renew } = await openLeases(open, 'one')
      const { id: other } = await store.organizations.create('other')
      const bucket = { kind: 'tokens', needs: [1], spare: 0, correction: 0 } as const
      const slots = { organization: other, kind: 'concurrent', needed: 3, spare: 0 } as const
      const buckets = [
        { ...bucket, organization: other, limit: 7 },
        { ...bucket, organization: id, limit: 9, needs: [4, 6] },
      ]
      const grants = await renew('one', {
        buckets,
        slots: [
          { ...slots, limit: 2 },
          { ...slots, kind: 'queued', limit: 5 },
        ],
      })
      expect(grants).toEqual({
        buckets: [
          { granted: [true], spare: 0, spent: 60_000 },
          { granted: [true, false], spare: 0, spent: 240_000 },
        ],
        slots: [
          { held: 2, others: 0 },
          { held: 3, others: 0 },
        ],
      })
    })

    test('of a process that was removed is rejected with 503 and takes nothing', async () => {
      const { store, take, hold } = await openLeases(open, 'one', 'two')
      await take('two', [1])
      await store.rows("DELETE FROM processes WHERE id = 'one'")
      await expect(take('one', [50])).rejects.toMatchObject({ status: 503 })
      await expect(hold('one', 5)).rejects.toMatchObject({ status: 503 })
      expect((await take('two', [])).left).toBe(99)
      expect(await hold('two', 10)).toEqual({ held: 10, others: 0 })
    })

    test('counts on the clock of the database', async () => {
      const store = await open()
      const { id } = await store.organizations.create('acme')
      const bucket = {
        organization: id,
        kind: 'requests',
        limit: 1,
        needs: [1],
        spare: 0,
        correction: 0,
      } as const
      const before = Date.now()
      await store.renewLeases(store.shared.process.id(), { buckets: [bucket], slots: [] })
      const [[refilledAt] = []] = await valuesOf(store, 'SELECT refilled_at FROM rate_limit_buckets')
      expect(refilledAt).toBeWithin(before - 1000, Date.now() + 1000)
    })
  })
})
