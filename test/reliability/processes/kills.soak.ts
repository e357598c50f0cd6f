import { expect, test } from 'bun:test'
import { soakSeed } from '../../support/seed.ts'
import { killReplicas } from './support/replica-kills.ts'
import { startReplicas } from './support/replicas.ts'

test('three servers on one PostgreSQL database, killed and suspended a hundred times, lose nothing that was acknowledged', async () => {
  const found = await killReplicas({
    seed: soakSeed,
    kills: 100,
    suspends: true,
    start: (provider) => startReplicas(3, provider),
    onKilled: (kills) => {
      if (kills % 10 === 0) console.log(`  ${kills} kills`)
    },
  })
  console.log(JSON.stringify(found))
  expect(found.runs).toBeGreaterThan(200)
  expect(found.paid).toBeGreaterThan(200)
})
