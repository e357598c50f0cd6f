import { expect, test } from 'bun:test'
import { soakSeed } from '../../support/seed.ts'
import { killReplicas } from './support/replica-kills.ts'
import { startReplicas, startWorkerReplicas } from './support/replicas.ts'

test('three servers on one PostgreSQL database, killed and suspended a hundred times, lose nothing that was acknowledged', async () => {
  const start = (provider: string) => startReplicas(3, provider)
  await killOften(start)
})

test('three workers on one SQLite file, killed and suspended a hundred times, lose nothing that was acknowledged', async () => {
  const start = (provider: string) => startWorkerReplicas(3, provider)
  await killOften(start)
})

async function killOften(start: Parameters<typeof killReplicas>[0]['start']): Promise<void> {
  const found = await killReplicas({
    seed: soakSeed,
    kills: 100,
    suspends: true,
    start,
    onKilled: (kills) => {
      if (kills % 10 === 0) console.log(`  ${kills} kills`)
    },
  })
  console.log(JSON.stringify(found))
  expect(found.runs).toBeGreaterThan(200)
  expect(found.paid).toBeGreaterThan(200)
}
