import { expect, test } from 'bun:test'
import { firstKey } from '../../support/app.ts'
import { queueRun, waitForOutput } from '../../support/background.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { jsonReply } from '../../support/chat-fixtures.ts'
import { expectConsistent } from '../../unit/storage/support/ledger-fixture.ts'
import { prepareGateways, realTiming, sendChat } from './support/processes.ts'
import { appAt, endlessReply } from './support/run-gateways.ts'
import { testSharedDatabases } from './support/shared-database.ts'

// With the intervals of `weir serve`, which the tests of the gate shorten.

/** In milliseconds: a silence of 10 s and some beats; the age of what is known of a key. */
const maxOrphanMs = 15_000
const maxRevokedMs = 1100

testSharedDatabases((create) => {
  test.each([
    ['killed', 'SIGKILL'],
    ['suspended', 'SIGSTOP'],
  ] as const)(
    'the runs and reservations of a server that is %s are settled within 15 s',
    async (_, signal) => {
      const database = await create()
      const { start, spawn } = await prepareGateways(database, endlessReply, {}, realTiming)
      const survivor = await start()
      const ended = await spawn()
      await database.fund(10_000_000_000n)
      const streams = await Promise.all(Array.from({ length: 5 }, () => sendChat(ended, { stream: true })))
      expect(streams.map(({ status }) => status)).toEqual(streams.map(() => 200))
      const { id } = await queueRun(appAt(ended.url, firstKey), { input: 'run' })
      await waitForOutput(survivor, id, 'It is ')
      const open = () => database.rows('SELECT request_id FROM reservations')
      expect(await open()).toHaveLength(6)
      process.kill(ended.pid, signal)
      const isSettled = async () =>
        (await open()).length === 0 && (await database.rows('SELECT 1 FROM runs')).length === 0
      await waitUntil(isSettled, 'everything is settled', maxOrphanMs)
      await expectConsistent(database)
      await Promise.all(streams.map((stream) => stream.body?.cancel().catch(() => {})))
    },
  )

  test('a key that was revoked for longer than 1.1 s is rejected by every process', async () => {
    const database = await create()
    const { start } = await prepareGateways(database, jsonReply(), {}, realTiming)
    const apps = [await start(), await start(), await start()]
    for (const app of apps) expect((await sendChat(app)).status).toBe(200)
    await database.rows('UPDATE api_keys SET revoked_at = 1')
    const revokedAt = performance.now()
    for (const app of apps)
      for (let status = 200; status === 200;) {
        const sentAfter = performance.now() - revokedAt
        status = (await sendChat(app)).status
        if (sentAfter > maxRevokedMs) expect(status).toBe(401)
      }
  })
})
