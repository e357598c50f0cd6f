import { expect, test } from 'bun:test'
import { testSharedStores } from '../storage/support/stores.ts'
import { expectExactLimits } from './support/exact-limits.ts'
import { openLeased, refusalOf } from './support/leased-limits.ts'
import { soakSeed } from '../../support/seed.ts'

testSharedStores((open) => {
  test.each(['leases', 'slots', 'tokens', soakSeed])(
    'random requests of several processes get what one exact bucket would grant, for long (seed %s)',
    async (seed) => {
      await expectExactLimits(open, seed, 8)
    },
  )

  test('a thousand requests a second of three processes need a few exchanges, and most of them wait for none', async () => {
    await using leased = await openLeased(open)
    const { all, acme, counts } = leased
    let [requests, waiting] = [0, 0]

    async function call(): Promise<void> {
      const client = all[requests++ % all.length]
      const admitted = client?.admit(acme)
      const admission = await admitted
      const opened = admission?.open(200)
      const slot = await opened
      if (admitted instanceof Promise || opened instanceof Promise) waiting++
      await Bun.sleep(50)
      slot?.release(350)
    }

    /** Calls as evenly as the machine allows. */
    async function callFor(milliseconds: number): Promise<void> {
      const calls: Promise<void>[] = []
      const startedAt = performance.now()
      for (let elapsed = 0; elapsed < milliseconds; elapsed = performance.now() - startedAt) {
        while (calls.length < elapsed) calls.push(call())
        await Bun.sleep(1)
      }
      await Promise.all(calls)
    }

    await callFor(500)
    const before = counts.exchanges
    ;[requests, waiting] = [0, 0]
    await callFor(1500)
    expect(counts.exchanges - before).toBeLessThan(requests / 8)
    expect(waiting).toBeLessThan(requests / 4)
  })

  test('a request is rejected with 503 when the store does not answer for the time that a gateway waits', async () => {
    await using leased = await openLeased(open, { exchange: () => () => new Promise(() => {}) })
    expect((await refusalOf(() => leased.all[0]?.admit(leased.acme)))?.status).toBe(503)
  })
})
