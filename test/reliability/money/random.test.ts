import { test } from 'bun:test'
import { expectExactLedger } from './support/random-requests.ts'
import { testSeed } from '../../support/seed.ts'

// The seed repeats what is sent and replied; when each comes is up to the machine.

test(`after hundreds of random requests, faults, disconnects and kills the ledger is consistent to the nano-dollar (seed ${testSeed})`, async () => {
  await expectExactLedger(testSeed, [150, 30, 220])
}, 120_000)
