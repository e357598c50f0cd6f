import { test } from 'bun:test'
import { expectModelLedger } from './support/random-ledger.ts'

const seed = process.env.WEIR_TEST_SEED ?? 'spring'

test(`the ledger is consistent to the nano-dollar after hundreds of random requests, faults and restarts (seed ${seed})`, async () => {
  await expectModelLedger(seed, 60)
})
