import { expect, test } from 'bun:test'
import { testSharedStores } from '../storage/support/stores.ts'
import { expectExactLimits } from './support/exact-limits.ts'
import { openLeased, refusalOf } from './support/leased-limits.ts'
import { measureSteadyLoad, type SteadyLoad } from './support/steady-load.ts'
import { soakSeed } from '../../support/seed.ts'

const defaults = { requests: 6000, tokens: 20_000_000, concurrent: 10_000 }

testSharedStores((open) => {
  test.each(['leases', 'slots', 'tokens', soakSeed])(
    'random requests of several processes get what one exact bucket would grant, for long (seed %s)',
    async (seed) => {
      await expectExactLimits(open, seed, 8)
    },
  )

  test.each<SteadyLoad>([
    { rate: 1000 },
    { rate: 10, ...defaults },
    { rate: 60, ...defaults },
    { rate: 95, ...defaults },
    { rate: 300, ...defaults, requests: 18_000 },
    { rate: 600, requests: 60_000, tokens: 20_000_000, concurrent: 100 },
  ])(
    'each of two processes with a steady load needs at most one renewal in 100 ms, and hardly any call waits: %o',
    async (load) => {
      const { renewals, calls, waiting } = await measureSteadyLoad(open, load, 5000)
      expect(renewals).toBeLessThan(10)
      expect(waiting).toBeLessThan(calls / 8)
    },
  )

  test('a request is rejected with 503 when the store does not answer for the time that a gateway waits', async () => {
    await using leased = await openLeased(open, { renew: () => () => new Promise(() => {}) })
    expect((await refusalOf(() => leased.all[0]?.admit(leased.acme)))?.status).toBe(503)
  })
})
