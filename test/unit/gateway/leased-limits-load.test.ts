import { test } from 'bun:test'
import { testSharedStores } from '../storage/support/stores.ts'
import { expectExactLimits } from './support/exact-limits.ts'

const seed = process.env.WEIR_TEST_SEED ?? 'leases'

testSharedStores((open) => {
  test(`random requests of several processes get what one exact bucket would grant (seed ${seed})`, async () => {
    await expectExactLimits(open, seed, 2)
  })
})
