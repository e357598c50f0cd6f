import { Database as Sqlite } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { dirname, join } from 'node:path'
import { runWeir } from '../../cli/support/run-weir.ts'
import { storageFixture } from '../../cli/support/storage-fixture.ts'
import { command as orgs } from '../../../src/cli/commands/orgs.ts'
import { databaseName } from '../../../src/storage/database-location.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { pricing, startBillingScenario } from '../../support/billing-scenario.ts'
import { fillOrganization, rowsOf } from '../../unit/storage/support/organization-rows.ts'
import { firstChunks, queueRun, waitForRun } from '../../support/background.ts'
import { chunks, streamReply, jsonReply } from '../../support/chat-fixtures.ts'
import { chatRequest, startScenario } from '../../support/scenario.ts'
import { hang } from '../../support/script.ts'
import { sqliteFile } from '../../support/database-connection.ts'
import { weirCommand } from '../../support/weir-command.ts'

/** A gateway with a large organization and a key of it. */
async function startLarge(rows: number, scripts: Parameters<typeof startBillingScenario>[0]) {
  const paid = await startBillingScenario(scripts, { settings: { background: { concurrency: 1 } } })
  for (const name of ['acme', 'other']) await paid.billing.fund(name, '0', 'unmetered')
  const headers = { authorization: `Bearer ${await paid.billing.keyOf('acme')}` }
  const sqlite = new Sqlite(sqliteFile(paid.database))
  const idOf = (name: string) =>
    String(sqlite.query('SELECT id FROM organizations WHERE name = ?').values(name)[0]?.[0])
  const [acme, other] = [idOf('acme'), idOf('other')]
  fillOrganization(sqlite, acme, other, rows)
  return {
    ...paid,
    headers,
    /** Executes these statements whenever a usage row is to be deleted, until the returned function is called. */
    beforeEachUsageRow(statements: string): () => void {
      sqlite.run(`CREATE TRIGGER held BEFORE DELETE ON usage BEGIN ${statements}; END`)
      return () => void sqlite.run('DROP TRIGGER held')
    },
    total: () => rowsOf(sqlite, acme).reduce((sum, count) => sum + count, 0),
    async [Symbol.asyncDispose]() {
      sqlite.close()
      await paid[Symbol.asyncDispose]()
    },
  }
}

test('an organization is unusable as soon as its deletion begins; its calls end, and others are served', async () => {
  const endless = chunks(firstChunks, hang)
  await using paid = await startLarge(5000, [endless, jsonReply(), streamReply()])
  const { app, headers } = paid
  const running = app.chat({ ...chatRequest, stream: true }, { headers })
  await paid.acme.request(0)
  const folder = dirname(sqliteFile(paid.database))
  const remove = () => runWeir(['orgs', 'delete', 'acme', '--yes', '--json'], folder, { WEIR_DATA: folder })
  // It ends in the middle, so that what follows is certainly seen before its end.
  const release = paid.beforeEachUsageRow("SELECT RAISE(ABORT, 'held')")
  expect((await remove()).code).toBe(1)
  const isRefused = async () => (await app.request('/v1/models', { headers })).status === 403
  await waitUntil(isRefused, 'a refused key')
  expect(paid.total()).toBeGreaterThan(0)
  expect((await app.chat(chatRequest)).status).toBe(200)
  expect(await (await running).text()).toContain('The organization of this API key no longer exists.')

  release()
  const { code, out } = await remove()
  expect([code, JSON.parse(out)]).toEqual([0, expect.objectContaining({ name: 'acme', deleted: true })])
  expect(paid.total()).toBe(0)
  expect((await app.request('/v1/models', { headers })).status).toBe(403)
  expect((await waitForRun(app, (await queueRun(app)).id)).status).toBe('completed')
}, 120_000)

test('a deletion that was killed in the middle continues at the next start', async () => {
  await using paid = await startLarge(3000, jsonReply())
  await paid.app.stop()
  const folder = dirname(sqliteFile(paid.database))
  // The first of these rows takes longer than the test, so that the process is certainly killed in the middle.
  const release = paid.beforeEachUsageRow(
    'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n',
  )
  const child = Bun.spawn([...weirCommand, 'orgs', 'delete', 'acme', '--yes'], {
    env: { HOME: folder, WEIR_DATA: folder },
    stdio: ['ignore', 'ignore', 'ignore'],
  })
  await waitUntil(() => paid.total() < 18_000, 'a first step')
  child.kill('SIGKILL')
  await child.exited
  expect(paid.total()).toBeGreaterThan(0)
  release()

  await using again = await startScenario(jsonReply(), { database: paid.database, model: { pricing } })
  const { headers } = paid
  expect((await again.app.request('/v1/models', { headers })).status).toBe(403)
  expect((await again.app.chat(chatRequest)).status).toBe(200)
  await waitUntil(() => paid.total() === 0, 'the end of the deletion')
  expect(again.app.lines.filter((line) => line.includes('"level":"error"'))).toEqual([])
}, 120_000)

test('a long deletion reports its progress', async () => {
  const { data, say: run } = storageFixture()
  await run(orgs, 'create', 'acme')
  await run(orgs, 'create', 'other')
  using sqlite = new Sqlite(join(data, databaseName))
  const [acme = '', other = ''] = sqlite.query('SELECT id FROM organizations ORDER BY id').values().flat()
  fillOrganization(sqlite, String(acme), String(other), 10_000)
  const { code, out, err } = await run(orgs, 'delete', 'acme', '--yes')
  expect([code, out]).toEqual([0, 'Deleted the organization acme.'])
  expect(err).toMatch(/^Deleting the organization acme: [\d,]+ rows deleted\.$/m)
}, 120_000)
