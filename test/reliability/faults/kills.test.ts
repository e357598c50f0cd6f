import { expect, test } from 'bun:test'
import { killUnderLoad } from './support/kills.ts'
import { testSeed } from '../../support/seed.ts'

test(`two kills under every kind of load lose nothing that was acknowledged, and the ledger is consistent (seed ${testSeed})`, async () => {
  const killed = await killUnderLoad(2, testSeed)
  expect(killed.stored).toBeGreaterThan(20)
  expect(killed.paid).toBeGreaterThan(20)
}, 120_000)
