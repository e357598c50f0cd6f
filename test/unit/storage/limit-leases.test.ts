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

  /** Takes what requests need from a bucket, and returns what was granted, how much ahead, and what is left. */
  async function take(
    process: string,
    needs: readonly number[],
    more: Partial<BucketRenewal> = {},
  ): Promise<{ granted: readonly boolean[]; ahead: number; left: number }> {
    const bucket = {
      organization: id,
      kind: 'requests',
      limit: 100,
      needs,
      ahead: 0,
      correction: 0,
      ...more,
    } as const
    const [grant] = await renew(process, [bucket])
    const { granted, ahead, spent } = grant!
    return { granted, ahead, left: bucket.limit - spent / 60_000 }
  }

  /** Takes slots for so many requests beside those that the process has, and returns how many it and all have then. */
  async function hold(process: string, held: number, requests: number, more: Partial<SlotRenewal> = {}) {
    const needs = Array<number>(requests).fill(1)
    const slots = { organization: id, kind: 'concurrent', limit: 10, held, needs, ahead: 0, ...more } as const
    const [grant] = await renew(process, [slots])
    const { granted, ahead, spent } = grant!
    return { held: held + granted.filter(Boolean).length + ahead, all: spent }
  }

  return { store, id, clock, renew, take, hold }
}

testSharedStores((open) => {
  describe('a bucket that processes share', () => {
    test('grants its limit, whichever process asks, each need whole or not at all', async () => {
      const { take } = await openLeases(open, 'one', 'two')
      expect(await take('one', [60])).toEqual({ granted: [true], ahead: 0, left: 40 })
      expect(await take('two', [30, 20, 10])).toEqual({ granted: [true, false, true], ahead: 0, left: 0 })
      expect(await take('one', [1])).toEqual({ granted: [false], ahead: 0, left: 0 })
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

    test('grants as much ahead as it has, and nothing where a need is not granted', async () => {
      const { take } = await openLeases(open, 'one')
      expect(await take('one', [20], { ahead: 5 })).toEqual({ granted: [true], ahead: 5, left: 75 })
      expect(await take('one', [60, 20], { ahead: 5 })).toEqual({
        granted: [true, false],
        ahead: 0,
        left: 15,
      })
      expect(await take('one', [10], { ahead: 50 })).toEqual({ granted: [true], ahead: 5, left: 0 })
      expect(await take('one', [], { ahead: 50 })).toEqual({ granted: [], ahead: 0, left: 0 })
    })

    test('takes back what was not used, and charges what was used in excess, before it grants', async () => {
      const { take } = await openLeases(open, 'one', 'two')
      await take('one', [100])
      expect(await take('one', [30], { correction: -40 })).toEqual({ granted: [true], ahead: 0, left: 10 })
      expect(await take('two', [1], { correction: 10 })).toEqual({ granted: [false], ahead: 0, left: 0 })
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
      const left = await valuesOf(store, 'SELECT DISTINCT organization_id FROM rate_limit_buckets')
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
      expect(await hold('one', 0, 7)).toEqual({ held: 7, all: 7 })
      expect(await hold('two', 0, 5)).toEqual({ held: 3, all: 10 })
      expect(await hold('one', 2, 0)).toEqual({ held: 2, all: 5 })
      expect(await hold('two', 3, 2)).toEqual({ held: 5, all: 7 })
      expect(await hold('one', 0, 0)).toEqual({ held: 0, all: 5 })
      expect(await hold('two', 0, 0)).toEqual({ held: 0, all: 0 })
    })

    test('are kept where the limit is lower by now, and not granted again', async () => {
      const { hold } = await openLeases(open, 'one', 'two')
      await hold('one', 0, 7)
      expect(await hold('one', 7, 1, { limit: 2 })).toEqual({ held: 7, all: 7 })
      expect(await hold('two', 0, 1, { limit: 2 })).toEqual({ held: 0, all: 7 })
      expect(await hold('one', 3, 0, { limit: 2 })).toEqual({ held: 3, all: 3 })
    })

    test('are granted for later as far as they are free, and not where a request gets none', async () => {
      const { hold } = await openLeases(open, 'one', 'two')
      expect(await hold('one', 0, 1, { ahead: 4 })).toEqual({ held: 5, all: 5 })
      expect(await hold('two', 0, 4, { ahead: 4 })).toEqual({ held: 5, all: 10 })
      expect(await hold('two', 3, 0, { ahead: 4 })).toEqual({ held: 5, all: 10 })
      expect(await hold('two', 3, 3, { ahead: 4 })).toEqual({ held: 5, all: 10 })
    })

    test('that a crash of the database has forgotten are counted again with the next renewal', async () => {
      const { store, hold } = await openLeases(open, 'one', 'two')
      await hold('one', 0, 7)
      await store.rows("UPDATE slot_leases SET held = 4 WHERE process_id = 'one'")
      expect(await hold('one', 7, 0)).toEqual({ held: 7, all: 7 })
      expect(await hold('two', 0, 5)).toEqual({ held: 3, all: 10 })
      await store.rows("UPDATE slot_leases SET held = 9 WHERE process_id = 'one'")
      expect(await hold('one', 6, 1)).toEqual({ held: 7, all: 10 })
    })

    test('of a process that was removed are free, and their rows are deleted', async () => {
      const { store, hold } = await openLeases(open, 'one', 'two')
      await hold('one', 0, 10)
      expect(await hold('two', 0, 1)).toEqual({ held: 0, all: 10 })
      await store.rows("DELETE FROM processes WHERE id = 'one'")
      expect(await hold('two', 0, 10)).toEqual({ held: 10, all: 10 })
      expect(await valuesOf(store, 'SELECT process_id, held FROM slot_leases')).toEqual([['two', 10]])
    })

    test('are counted separately for queued runs and for other organizations', async () => {
      const { store, hold } = await openLeases(open, 'one', 'two')
      const { id: other } = await store.organizations.create('other')
      await hold('one', 0, 10)
      expect(await hold('two', 0, 10, { kind: 'queued' })).toEqual({ held: 10, all: 10 })
      expect(await hold('two', 0, 10, { organization: other })).toEqual({ held: 10, all: 10 })
    })

    test('are granted exactly up to the limit to many processes at once', async () => {
      const processes = Array.from({ length: 30 }, (_, index) => `process${index}`)
      const { hold } = await openLeases(open, ...processes)
      const grants = await Promise.all(processes.map((process) => hold(process, 0, 1)))
      expect(grants.reduce((sum, { held }) => sum + held, 0)).toBe(10)
    })
  })

  describe('a renewal', () => {
    test('of several limits answers in their order', async () => {
      const { store, id, renew } = await openLeases(open, 'one')
      const { id: other } = await store.organizations.create('other')
      const bucket = { kind: 'tokens', needs: [1], ahead: 0, correction: 0 } as const
      const slots = { organization: other, kind: 'concurrent', held: 1, needs: [1, 1], ahead: 0 } as const
      const grants = await renew('one', [
        { ...bucket, organization: other, limit: 7 },
        { ...slots, limit: 2 },
        { ...bucket, organization: id, limit: 9, needs: [4, 6] },
        { ...slots, kind: 'queued', limit: 5 },
      ])
      expect(grants).toEqual([
        { granted: [true], ahead: 0, spent: 60_000 },
        { granted: [true, false], ahead: 0, spent: 2 },
        { granted: [true, false], ahead: 0, spent: 240_000 },
        { granted: [true, true], ahead: 0, spent: 3 },
      ])
    })

    test('of a process that was removed is rejected with 503 and takes nothing', async () => {
      const { store, take, hold } = await openLeases(open, 'one', 'two')
      await take('two', [1])
      await store.rows("DELETE FROM processes WHERE id = 'one'")
      await expect(take('one', [50])).rejects.toMatchObject({ status: 503 })
      await expect(hold('one', 0, 5)).rejects.toMatchObject({ status: 503 })
      expect((await take('two', [])).left).toBe(99)
      expect(await hold('two', 0, 10)).toEqual({ held: 10, all: 10 })
    })

    test('counts on the clock of the database', async () => {
      const store = await open()
      const { id } = await store.organizations.create('acme')
      const bucket = {
        organization: id,
        kind: 'requests',
        limit: 1,
        needs: [1],
        ahead: 0,
        correction: 0,
      } as const
      const ofRequests = "SELECT refilled_at FROM rate_limit_buckets WHERE kind = 'requests'"
      const before = Date.now()
      await store.renewLeases(store.shared.process.id(), [bucket])
      const [[refilledAt] = []] = await valuesOf(store, ofRequests)
      expect(refilledAt).toBeWithin(before - 1000, Date.now() + 1000)
    })
  })
})
