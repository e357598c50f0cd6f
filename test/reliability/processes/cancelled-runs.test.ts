import { describe, expect, onTestFinished, test } from 'bun:test'
import { Secret } from '../../../src/lib/secret.ts'
import { cancelledRun, queueRun } from '../../support/background.ts'
import { startProxy } from '../../support/postgres/proxy.ts'
import { hasPostgres, sharedPostgres } from '../../support/postgres/server.ts'
import { endlessReply, prepareRunGateways } from './support/run-gateways.ts'
import { createPostgresDatabase } from './support/shared-database.ts'

/** A text of the statement that reads the status of runs. */
const readsStatus = 'input (id, organization_id, position)'
/** The least time between two of them; each run by itself would need thirty times as many. */
const readIntervalMs = 30

describe.skipIf(!hasPostgres)('on one PostgreSQL database', () => {
  test('clients that cancel thirty runs at once at another process wait for all of them with a few statements', async () => {
    const database = await createPostgresDatabase()
    const proxy = await startProxy((await sharedPostgres()).port)
    onTestFinished(() => proxy[Symbol.dispose]())
    const background = { concurrency: 30 }
    const { start, upstream } = await prepareRunGateways(database, endlessReply, background)
    const owner = await start()
    const runs = await Promise.all(Array.from({ length: 30 }, () => queueRun(owner)))
    await upstream.request(29)
    const location = new Secret(proxy.through(database.address))
    const other = await (await prepareRunGateways({ ...database, location }, endlessReply)).start()
    const trips = proxy.recordRoundTrips()
    const startedAt = performance.now()
    const ends = await Promise.all(runs.map(({ id }) => cancelledRun(other, id)))
    for (const end of ends)
      expect(end).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'cancelled' } })
    const elapsedMs = performance.now() - startedAt
    expect(trips(readsStatus)).toBeLessThanOrEqual(elapsedMs / readIntervalMs + 2)
    expect(await database.rows('SELECT * FROM runs')).toEqual([])
  })
})
