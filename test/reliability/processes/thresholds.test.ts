import { expect, test } from 'bun:test'
import { hasPostgres } from '../../support/postgres/server.ts'
import { testSeed } from '../../support/seed.ts'
import { crossThresholds } from './support/threshold-crossing.ts'

test.skipIf(!hasPostgres)(
  `three servers on one PostgreSQL database, of which one is killed, report each threshold of a budget once (seed ${testSeed})`,
  async () => {
    const { accepted, attempts } = await crossThresholds({ seed: testSeed, requests: 300, kills: 1 })
    expect(accepted).toBeGreaterThan(200)
    // The first one was rejected.
    expect(attempts).toBeGreaterThan(5)
  },
  120_000,
)
