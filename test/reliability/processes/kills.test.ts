import { expect, test } from 'bun:test'
import { hasPostgres } from '../../support/postgres/server.ts'
import { killReplicas } from './support/replica-kills.ts'
import { startReplicas } from './support/replicas.ts'
import { testSeed } from '../../support/seed.ts'

test.skipIf(!hasPostgres)(
  `three servers on one PostgreSQL database, of which two are killed, lose nothing that was acknowledged (seed ${testSeed})`,
  async () => {
    const found = await killReplicas({
      seed: testSeed,
      kills: 2,
      start: (provider) => startReplicas(3, provider),
    })
    expect(found.runs).toBeGreaterThan(20)
    expect(found.paid).toBeGreaterThan(20)
  },
  120_000,
)
