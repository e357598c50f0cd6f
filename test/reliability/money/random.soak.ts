import { test } from 'bun:test'
import { expectExactLedger } from './support/random-requests.ts'

const seed = process.env.WEIR_TEST_SEED ?? String(Date.now())

test('after thousands of random requests, faults, disconnects and kills the ledger is consistent to the nano-dollar', async () => {
  console.log(JSON.stringify(await expectExactLedger(seed, [350, 700, 30, 800, 450, 800])))
})
