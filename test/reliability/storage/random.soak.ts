import { test } from 'bun:test'
import { testStores } from '../../unit/storage/support/stores.ts'
import { expectModelBudgets } from './support/random-budgets.ts'
import { expectModelLedger } from './support/random-ledger.ts'
import { expectModelResponses } from './support/random-responses.ts'
import { soakSeed } from '../../support/seed.ts'

test.each(['spring', 'summer', 'autumn', 'winter', soakSeed])(
  'the ledger is consistent to the nano-dollar after thousands of random requests, faults and restarts (seed %s)',
  async (seed) => {
    await expectModelLedger(seed, 120)
  },
)

test.each(['spring', 'summer', 'autumn', 'winter', soakSeed])(
  'the stored responses agree with a simple model after thousands of random actions (seed %s)',
  async (seed) => {
    await expectModelResponses(seed, 150)
  },
)

testStores((open) => {
  test.each(['spring', 'summer', 'autumn', 'winter', soakSeed])(
    'budgets are exact to the nano-dollar after thousands of random requests and a recovery (seed %s)',
    async (seed) => {
      await expectModelBudgets(await open(), seed, 120)
    },
    300_000,
  )
})
