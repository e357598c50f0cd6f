import { test } from 'bun:test'
import { expectExactLedger } from './support/random-requests.ts'
import { soakSeed } from '../../support/seed.ts'

test('after thousands of random requests, faults, disconnects and kills the ledger is consistent to the nano-dollar', async () => {
  console.log(JSON.stringify(await expectExactLedger(soakSeed, [350, 700, 30, 800, 450, 800])))
})
