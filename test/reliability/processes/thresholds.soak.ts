import { expect, test } from 'bun:test'
import { soakSeed } from '../../support/seed.ts'
import { crossThresholds } from './support/threshold-crossing.ts'

test('three servers on one PostgreSQL database, of which five are killed, report each threshold once in 10,000 requests', async () => {
  const found = await crossThresholds({ seed: soakSeed, requests: 10_000, kills: 5 })
  console.log(JSON.stringify(found))
  expect(found.accepted).toBeGreaterThan(9000)
})
