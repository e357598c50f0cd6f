import { describe, expect, onTestFinished, test } from 'bun:test'
import { Secret } from '../../../src/lib/secret.ts'
import { gatedReply, queueRun, waitForRun } from '../../support/background.ts'
import { startProxy } from '../../support/postgres/proxy.ts'
import { hasPostgres, sharedPostgres } from '../../support/postgres/server.ts'
import { countInputs, prepareRunGateways } from './support/run-gateways.ts'
import { shortTiming } from './support/processes.ts'
import { createPostgresDatabase } from './support/shared-database.ts'

describe.skipIf(!hasPostgres)('a background run on PostgreSQL', () => {
  test('that is continued before its process knows that it was stored reaches the provider once', async () => {
    const database = await createPostgresDatabase()
    const proxy = await startProxy((await sharedPostgres()).port)
    onTestFinished(proxy[Symbol.dispose])
    const location = new Secret(proxy.through(database.address))
    const gate = Promise.withResolvers<void>()
    const { start, upstream } = await prepareRunGateways(
      { ...database, location },
      gatedReply(gate.promise),
      { concurrency: 4 },
      // The reply to the statement never arrives: the test lasts as long as it is awaited.
      { ...shortTiming, databaseTimeoutMs: 10_000 },
    )
    const app = await start()
    proxy.muteAfter('INSERT INTO responses')
    const late = queueRun(app, { input: 'late' })
    // The process finds a run of its own that it does not know, and executes it.
    await upstream.request(0)
    const { id } = await late
    const next = await queueRun(app, { input: 'next' })
    await upstream.request(1)
    gate.resolve()
    for (const run of [id, next.id]) expect(await waitForRun(app, run)).toMatchObject({ status: 'completed' })
    expect([...countInputs(upstream)]).toEqual([
      ['late', 1],
      ['next', 1],
    ])
  })
})
