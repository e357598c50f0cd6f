import { afterAll, describe, expect, test } from 'bun:test'
import { Secret } from '../../../src/lib/secret.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { createRuntime } from '../../../src/server/runtime.ts'
import { toSettings } from '../../../src/config/defaults.ts'
import { startApp } from '../../support/app.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { execute, hasPostgres, type PostgresServer, startPostgres } from '../../support/postgres/server.ts'
import { jsonReply } from '../../support/chat-fixtures.ts'
import { signalServer } from '../../support/postgres/signal-server.ts'
import { prepareGateways, sendChat, shortTiming as timing } from './support/processes.ts'
import { testSharedDatabases } from './support/shared-database.ts'

let server: PostgresServer | undefined
afterAll(() => server?.dispose())

const echo = { model: 'weir/echo', messages: [{ role: 'user', content: 'Hello' }] }

testSharedDatabases((create) => {
  test('a new process serves the next request, and one that has stopped is no longer a member', async () => {
    const database = await create()
    const { start } = await prepareGateways(database, jsonReply())
    const [one, two] = [await start(), await start()]
    expect((await sendChat(one)).status).toBe(200)
    expect((await sendChat(two)).status).toBe(200)
    expect(await database.rows('SELECT id FROM processes')).toHaveLength(2)
    const count = async () =>
      /^weir_processes (\d+)$/m.exec(await (await two.request('/metrics')).text())?.[1]
    expect(await count()).toBe('2')
    await one.stop()
    await waitUntil(async () => (await count()) === '1', 'the other one is alone')
    expect(await database.rows('SELECT id FROM processes')).toHaveLength(1)
    expect((await sendChat(two)).status).toBe(200)
  })

  test('a key that is revoked anywhere is rejected by every process soon', async () => {
    const database = await create()
    const { start } = await prepareGateways(database, jsonReply())
    const apps = [await start(), await start(), await start()]
    for (const app of apps) expect((await sendChat(app)).status).toBe(200)
    await database.rows('UPDATE api_keys SET revoked_at = 1')
    const isRejected = async () =>
      (await Promise.all(apps.map((app) => sendChat(app)))).every(({ status }) => status === 401)
    await waitUntil(isRejected, 'all of them reject it')
  })
})

describe.skipIf(!hasPostgres)('the processes of a PostgreSQL database', () => {
  test('that start together on an empty one migrate it once and create one first key', async () => {
    server ??= await startPostgres()
    const database = new Secret(await server.createDatabase())
    const start = () =>
      createRuntime({
        settings: toSettings({}, null),
        file: null,
        environment: { OLLAMA_HOST: 'elsewhere.test' },
        database,
        log: silentLog,
      })
    const runtimes = await Promise.all(Array.from({ length: 4 }, start))
    const keys = runtimes.flatMap(({ firstKeys }) => firstKeys.apiKey?.key.reveal() ?? [])
    expect(keys).toHaveLength(1)
    for (const runtime of runtimes) {
      const headers = { authorization: `Bearer ${keys[0]}` }
      expect((await runtime.fetch(new Request('http://localhost/v1/models', { headers }))).status).toBe(200)
    }
    for (const runtime of runtimes) await runtime.stop()
  })

  test('remove nobody because the server did not answer for longer than they may be silent, and serve again when it does', async () => {
    server ??= await startPostgres()
    const url = await server.createDatabase()
    const database = new Secret(url)
    await using one = await startApp({ database, ...timing })
    await using two = await startApp({ database, ...timing })
    const members = () => execute(url, 'SELECT id FROM processes ORDER BY id')
    const before = await members()
    expect(before).toHaveLength(2)
    signalServer(server, 'SIGSTOP')
    // Longer than a process may be silent, and than a beat waits for the server.
    await Bun.sleep(timing.evictAfter + 500)
    signalServer(server, 'SIGCONT')
    for (const app of [one, two]) {
      const serves = async () => (await app.chat(echo)).status === 200
      await waitUntil(serves, 'it serves again')
    }
    const beats = async () => {
      const rows = await execute<{ beat: string }>(url, 'SELECT beat FROM processes')
      return rows.map(({ beat }) => Number(beat))
    }
    // In more beats than a process may miss, each is observed by the other one.
    const enough = Math.max(...(await beats())) + timing.evictAfter / timing.heartbeatInterval + 2
    const haveBeaten = async () => (await beats()).every((beat) => beat >= enough)
    await waitUntil(haveBeaten, 'both beat again')
    expect(await members()).toEqual(before)
    for (const app of [one, two]) expect(app.lines.join('\n')).not.toMatch(/was evicted/)
  }, 120_000)
})
