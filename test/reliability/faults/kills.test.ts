import { expect, test } from 'bun:test'
import { killUnderLoad } from './support/kills.ts'

const seed = process.env.WEIR_TEST_SEED ?? 'kills'

test(`two kills under every kind of load lose nothing that was acknowledged, and the ledger is consistent (seed ${seed})`, async () => {
  const killed = await killUnderLoad(2, seed)
  expect(killed.stored).toBeGreaterThan(20)
  expect(killed.paid).toBeGreaterThan(20)
}, 90_000)
