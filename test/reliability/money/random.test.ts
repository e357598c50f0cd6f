import { test } from 'bun:test'
import { expectExactLedger } from './support/random-requests.ts'

// The seed repeats what is sent and replied; when each comes is up to the machine.
const seed = process.env.WEIR_TEST_SEED ?? 'money'

test(`after hundreds of random requests, faults, disconnects and kills the ledger is consistent to the nano-dollar (seed ${seed})`, async () => {
  await expectExactLedger(seed, [150, 30, 220])
}, 60_000)
