import { expect, test } from 'bun:test'
import { killUnderLoad } from './support/kills.ts'

test('two kills under every kind of load lose nothing that was acknowledged, and the ledger is consistent', async () => {
  const seed = process.env.WEIR_TEST_SEED ?? String(Date.now())
  const killed = await killUnderLoad(2, seed)
  console.log(JSON.stringify({ WEIR_TEST_SEED: seed, ...killed }))
  expect(killed.stored).toBeGreaterThan(20)
  expect(killed.paid).toBeGreaterThan(20)
}, 90_000)
