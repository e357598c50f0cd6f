import { test } from 'bun:test'
import { testStores } from '../../unit/storage/support/stores.ts'
import { expectModelBudgets } from './support/random-budgets.ts'

const seed = process.env.WEIR_TEST_SEED ?? 'spring'

testStores((open) => {
  test(`budgets are exact to the nano-dollar after hundreds of random requests and a recovery (seed ${seed})`, async () => {
    await expectModelBudgets(await open(), seed, 40)
  }, 120_000)
})
