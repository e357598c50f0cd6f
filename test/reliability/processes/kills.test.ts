import { expect, test } from 'bun:test'
import { hasPostgres } from '../../support/postgres/server.ts'
import { killReplicas } from './support/replica-kills.ts'
import { startReplicas, startWorkerReplicas } from './support/replicas.ts'

const seed = process.env.WEIR_TEST_SEED ?? String(Date.now())

test.skipIf(!hasPostgres)(
  'three servers on one PostgreSQL database, of which one is killed again and again, lose nothing that was acknowledged',
  async () => {
    const found = await killReplicas({ seed, kills: 8, start: (provider) => startReplicas(3, provider) })
    console.log(JSON.stringify({ WEIR_TEST_SEED: seed, ...found }))
    expect(found.runs).toBeGreaterThan(20)
    expect(found.paid).toBeGreaterThan(20)
  },
  120_000,
)

test.if(process.platform === 'linux')(
  'three workers on one SQLite file, of which one is killed again and again, lose nothing that was acknowledged',
  async () => {
    const found = await killReplicas({
      seed,
      kills: 8,
      start: (provider) => startWorkerReplicas(3, provider),
    })
    console.log(JSON.stringify({ WEIR_TEST_SEED: seed, ...found }))
    expect(found.runs).toBeGreaterThan(20)
    expect(found.paid).toBeGreaterThan(20)
  },
  120_000,
)
