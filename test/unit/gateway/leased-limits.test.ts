import { describe, expect, test } from 'bun:test'
import type { RateLimitStatus } from '../../../src/storage/ports/limits.ts'
import { serviceUnavailable } from '../../../src/lib/errors/errors.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { testSharedStores } from '../storage/support/stores.ts'
import { type LimitsClient, openLeased, recordAhead, refusalOf } from './support/leased-limits.ts'
import { organization } from './support/organization.ts'

/** The first ones of a list that is long enough. */
function three([one, two, three]: readonly LimitsClient[]): [LimitsClient, LimitsClient, LimitsClient] {
  if (!one || !two || !three) throw new Error('There are fewer processes.')
  return [one, two, three]
}

testSharedStores((open) => {
  describe('the requests per minute of several processes', () => {
    test.each([1, 5, 50])('allow exactly %d, whatever the split of the callers is', async (requests) => {
      await using leased = await openLeased(open, { requests })
      const { all, acme, clock } = leased
      let next = 0
      const attempt = () => refusalOf(() => all[((next++ * 7) % 5) % all.length]?.admit(acme))
      for (let index = 0; index < requests; index++) expect(await attempt()).toBeUndefined()
      const later = await Promise.all(Array.from({ length: 30 }, attempt))
      expect(later.map((refusal) => refusal?.status)).toEqual(Array(30).fill(429))
      clock.now += 60_000
      const burst = await Promise.all(Array.from({ length: 2 * requests }, attempt))
      expect(burst.filter((refusal) => refusal === undefined).length).toBe(requests)
    })

    test('are refused with the state of the whole and the time to wait', async () => {
      await using leased = await openLeased(open, { requests: 10 })
      const { all, acme } = leased
      const [one, two] = three(all)
      for (let index = 0; index < 10; index++) await (index % 2 ? one : two).admit(acme)
      const reported: RateLimitStatus[] = []
      const refusal = await refusalOf(() => one.admit(acme, (status) => reported.push(status)))
      expect(refusal?.headers).toEqual({ 'retry-after': '6', 'retry-after-ms': '6000' })
      expect(refusal?.message).toBe(
        'Rate limit exceeded: too many requests per minute for the organization (limit: 10). Try again in 6 seconds.',
      )
      expect(reported.map(({ requests }) => requests)).toEqual([{ limit: 10, remaining: 0, resetMs: 60_000 }])
    })

    test('are taken at once by a busy process, which soon returns what it does not use', async () => {
      const ahead = recordAhead()
      await using leased = await openLeased(open, { renew: ahead.renew })
      const { all, acme, counts, untilLeft } = leased
      const [one] = three(all)
      let admitted = 0
      const isAtOnce = async () => {
        const admission = one.admit(acme)
        admitted++
        await admission
        return !(admission instanceof Promise)
      }
      for (let index = 0; index < 50; index++) await isAtOnce()
      let before = 0
      const areMostAtOnce = async () => {
        before = counts.renewals
        const atOnce = await Promise.all(Array.from({ length: 10 }, isAtOnce))
        return atOnce.filter(Boolean).length > 5
      }
      await waitUntil(areMostAtOnce, 'most requests of a burst are admitted at once')
      expect(counts.renewals - before).toBeLessThan(3)
      expect(ahead.most()).toBeGreaterThan(0)
      await untilLeft('requests', 1e6 - admitted)
    })

    test('apply from the next request after a change, without a new burst', async () => {
      await using leased = await openLeased(open, { requests: 10 })
      const { all, acme, clock } = leased
      const [one, two] = three(all)
      for (let index = 0; index < 10; index++) await one.admit(acme)
      const raised = organization(acme.id, { requestsPerMinute: 6000 })
      expect((await refusalOf(() => two.admit(raised)))?.status).toBe(429)
      clock.now += 10
      const later = await Promise.all(Array.from({ length: 9 }, () => refusalOf(() => one.admit(raised))))
      expect(later.filter((refusal) => refusal === undefined).length).toBe(1)
    })
  })

  describe('the tokens per minute of several processes', () => {
    test.each([
      ['up', 100, 550],
      ['down', 500, 120],
    ])('are corrected %s at the end of a call', async (_, reserved, used) => {
      await using leased = await openLeased(open, { tokens: 1000 })
      const { all, acme, untilLeft } = leased
      const [one, two] = three(all)
      const call = await one.open(acme, reserved)
      expect((await one.admit(acme)).status().tokens.remaining).toBe(1000 - reserved)
      call.release(used)
      expect((await one.admit(acme)).status().tokens.remaining).toBe(1000 - used)
      await untilLeft('tokens', 1000 - used)
      expect((await refusalOf(() => two.open(acme, 1001 - used)))?.type).toBe('tokens')
      await two.open(acme, 1000 - used)
    })

    test('that are refunded can be used by the same process at once', async () => {
      await using leased = await openLeased(open, { tokens: 1000 })
      const { all, acme } = leased
      const [one] = three(all)
      ;(await one.open(acme, 1000)).release(0)
      ;(await one.open(acme, 1000)).release(0)
    })

    test('that a process has leased ahead count for its own request for all that are left', async () => {
      const ahead = recordAhead()
      await using leased = await openLeased(open, { tokens: 6000, renew: ahead.renew })
      const { all, acme, leftInStore } = leased
      const [one] = three(all)
      await one.open(acme, 100)
      expect(ahead.most()).toBeGreaterThan(0)
      await one.open(acme, 5900)
      expect(await leftInStore('tokens')).toBe(0)
    })

    test('of a process that stops are corrected and returned', async () => {
      await using leased = await openLeased(open, { tokens: 1e9 })
      const { all, acme, leftInStore, slotRows } = leased
      const [one] = three(all)
      const calls = await Promise.all(Array.from({ length: 20 }, () => one.open(acme, 100)))
      for (const call of calls) call.release(130)
      await one.leased.stop()
      expect(await leftInStore('tokens')).toBe(1e9 - 20 * 130)
      expect(await leftInStore('requests')).toBe(1e6 - 20)
      expect(await slotRows()).toEqual([])
      expect((await refusalOf(() => one.open(acme, 1)))?.status).toBe(503)
    })
  })

  describe('the concurrency slots of several processes', () => {
    test('are never more than the limit, and one that is released is free for every process', async () => {
      await using leased = await openLeased(open, { concurrent: 3 })
      const { all, acme, slotRows } = leased
      const [one, two, other] = three(all)
      const calls = [await one.open(acme, 1), await two.open(acme, 1), await other.open(acme, 1)]
      for (const process of all) {
        const refusal = await refusalOf(() => process.open(acme, 1))
        expect(refusal?.message).toContain('concurrent requests for the organization (limit: 3).')
      }
      // Its slot is still on its way to the store.
      calls[0]?.release(1)
      calls[0] = await two.open(acme, 1)
      expect((await refusalOf(() => one.open(acme, 1)))?.status).toBe(429)
      for (const call of calls) call.release(1)
      await waitUntil(async () => (await slotRows()).length === 0, 'no slots are held')
    })

    test('are kept for a moment where plenty are free', async () => {
      await using leased = await openLeased(open)
      const { all, acme, counts, slotRows } = leased
      const [one] = three(all)
      await one.open(acme, 1)
      const calls = await Promise.all(Array.from({ length: 20 }, () => one.open(acme, 1)))
      for (const call of calls) call.release(1)
      const before = counts.renewals
      const again = await Promise.all(Array.from({ length: 20 }, () => one.open(acme, 1)))
      expect(counts.renewals - before).toBeLessThan(5)
      for (const call of again) call.release(1)
      await waitUntil(async () => (await slotRows())[0]?.held === 1, 'only the used slot is held')
    })

    test('count for a process under its new id after it was removed', async () => {
      await using leased = await openLeased(open, { concurrent: 2 })
      const { store, acme, createClient, slotRows } = leased
      const process = { current: 'removed', id: () => process.current }
      await store.shared.processes.register('removed')
      const client = createClient(process)
      const call = await client.open(acme, 1)
      await store.rows("DELETE FROM processes WHERE id = 'removed'")
      await store.shared.processes.register('entered')
      process.current = 'entered'
      const isCounted = async () =>
        (await slotRows()).some((row) => row.process_id === 'entered' && row.held === 1)
      await waitUntil(isCounted, 'the open call is counted again')
      call.release(1)
      await waitUntil(
        async () => (await slotRows()).every((row) => row.process_id !== 'entered'),
        'none is held',
      )
    })
  })

  test('the slots of queued runs are counted in all processes', async () => {
    await using leased = await openLeased(open)
    const { all, acme } = leased
    const [one, two] = three(all).map(({ limits }) => limits.queuedRuns)
    const release = await one?.claim(acme, 2)
    expect(await two?.claim(acme, 2)).toBeFunction()
    expect(await one?.claim(acme, 2)).toBeUndefined()
    release?.()
    expect(await two?.claim(acme, 2)).toBeFunction()
  })

  test('the limiters of idle organizations are evicted', async () => {
    await using leased = await openLeased(open, { maxOrganizations: 10 })
    const { store, all } = leased
    const [one] = three(all)
    const create = async (index: number) => organization((await store.organizations.create(`org${index}`)).id)
    const many = await Promise.all(Array.from({ length: 40 }, (_, index) => create(index)))
    const calls = await Promise.all(many.slice(0, 5).map((who) => one.open(who, 10)))
    await Promise.all(many.map((who) => one.admit(who)))
    expect(one.limits.size()).toBe(40)
    let next = 40
    const isBounded = async () => {
      await one.admit(await create(next++))
      // Until it has returned what it took for the next request.
      await Bun.sleep(100)
      return one.limits.size() <= 16
    }
    await waitUntil(isBounded, 'only the busy ones are left')
    for (const call of calls) call.release(10)
  })

  test('a request is rejected with 503 while the store is unavailable, and what was owed is charged later', async () => {
    let available = true
    await using leased = await openLeased(open, {
      tokens: 1000,
      renew:
        (renew) =>
        (...renewals) =>
          available ? renew(...renewals) : Promise.reject(serviceUnavailable('The store is down.')),
    })
    const { all, acme, untilLeft } = leased
    const [one, two] = three(all)
    const call = await one.open(acme, 100)
    available = false
    call.release(400)
    expect((await refusalOf(() => two.open(acme, 1)))?.status).toBe(503)
    available = true
    await untilLeft('tokens', 600)
    await two.open(acme, 600)
  })

  test('a request is rejected with 503 when the store does not answer', async () => {
    await using leased = await openLeased(open, {
      renew: () => () => new Promise(() => {}),
      renewalTimeoutMs: 100,
    })
    const { all, acme } = leased
    expect((await refusalOf(() => three(all)[0].admit(acme)))?.status).toBe(503)
  })
})
