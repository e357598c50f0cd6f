import { expect, test } from 'bun:test'
import { testSharedStores } from '../storage/support/stores.ts'
import { expectExactLimits } from './support/exact-limits.ts'
import { measureSteadyLoad } from './support/steady-load.ts'

const seed = process.env.WEIR_TEST_SEED ?? 'leases'

testSharedStores((open) => {
  test(`random requests of several processes get what one exact bucket would grant (seed ${seed})`, async () => {
    await expectExactLimits(open, seed, 2)
  })

  test('each of two processes with a steady load needs at most one renewal in 100 ms', async () => {
    const limits = { requests: 6000, tokens: 20_000_000, concurrent: 10_000 }
    const { renewals, calls, rejected } = await measureSteadyLoad(open, { ...limits, rate: 60 }, 1500)
    expect(renewals).toBeLessThan(10)
    expect(calls).toBe(90)
    expect(rejected).toBe(0)
  })
})
