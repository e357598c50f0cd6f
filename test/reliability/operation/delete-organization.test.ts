import { expect, test } from 'bun:test'
import { dirname, join } from 'node:path'
import { runWeir } from '../../cli/support/run-weir.ts'
import { storageWorld } from '../../cli/support/storage-world.ts'
import { orgs } from '../../../src/cli/commands/orgs.ts'
import { databaseName } from '../../../src/storage/sqlite/connection/database.ts'
import { openBooks, until } from '../money/support/books.ts'
import { pricing, startPaid } from '../money/support/paid.ts'
import { fillOrganization, rowsOf } from '../../unit/storage/support/organization-rows.ts'
import { gatedAnswer, queueRun, runOver } from '../../support/background.ts'
import { streamed, whole } from '../../support/chat-answers.ts'
import { question, startScenario } from '../../support/scenario.ts'

const main = join(import.meta.dir, '../../../src/main.ts')

/** A gateway with a large organization and a key of it. */
async function startLarge(rows: number, scripts: Parameters<typeof startPaid>[0]) {
  const paid = await startPaid(scripts, { settings: { background: { concurrency: 1 } } })
  for (const name of ['acme', 'other']) await paid.books.fund(name, '0', 'unmetered')
  const headers = { authorization: `Bearer ${await paid.books.keyOf('acme')}` }
  const { sqlite } = paid.books
  const idOf = (name: string) =>
    String(sqlite.query('SELECT id FROM organizations WHERE name = ?').values(name)[0]?.[0])
  const [acme, other] = [idOf('acme'), idOf('other')]
  fillOrganization(sqlite, acme, other, rows)
  return { ...paid, headers, total: () => rowsOf(sqlite, acme).reduce((sum, count) => sum + count, 0) }
}

test('an organization is unusable as soon as its deletion begins; its calls end, and others are served', async () => {
  const gate = Promise.withResolvers<void>()
  await using paid = await startLarge(5000, [gatedAnswer(gate.promise), whole(), streamed()])
  const { app, headers } = paid
  const running = app.chat({ ...question, stream: true }, { headers })
  await paid.acme.request(0)
  const folder = dirname(paid.file)
  const deleting = runWeir(['orgs', 'delete', 'acme', '--yes', '--json'], folder, { WEIR_DATA: folder })
  await until(async () => (await app.request('/v1/models', { headers })).status === 403, 'a refused key')
  expect(paid.total()).toBeGreaterThan(0)
  expect((await app.chat(question)).status).toBe(200)
  gate.resolve()
  expect(await (await running).text()).toContain('[DONE]')

  const { code, out } = await deleting
  expect([code, JSON.parse(out)]).toEqual([0, expect.objectContaining({ name: 'acme', deleted: true })])
  expect(paid.total()).toBe(0)
  expect((await app.request('/v1/models', { headers })).status).toBe(403)
  expect((await runOver(app, (await queueRun(app)).id)).status).toBe('completed')
}, 30_000)

test('a deletion that was killed in the middle continues at the next start', async () => {
  await using paid = await startLarge(3000, whole())
  await paid.app.stop()
  const folder = dirname(paid.file)
  const child = Bun.spawn([process.execPath, main, 'orgs', 'delete', 'acme', '--yes'], {
    env: { HOME: folder, WEIR_DATA: folder },
    stdio: ['ignore', 'ignore', 'ignore'],
  })
  await until(() => paid.total() < 18_000, 'a first step')
  child.kill('SIGKILL')
  await child.exited
  expect(paid.total()).toBeGreaterThan(0)

  await using again = await startScenario(whole(), { database: paid.file, model: { pricing } })
  const { headers } = paid
  expect((await again.app.request('/v1/models', { headers })).status).toBe(403)
  expect((await again.app.chat(question)).status).toBe(200)
  await until(() => paid.total() === 0, 'the end of the deletion', 20_000)
  expect(again.app.lines.filter((line) => line.includes('"level":"error"'))).toEqual([])
}, 30_000)

test('a long deletion reports its progress', async () => {
  const { data, say } = storageWorld()
  await say(orgs, 'create', 'acme')
  await say(orgs, 'create', 'other')
  using books = openBooks(join(data, databaseName))
  const [acme = '', other = ''] = books.sqlite
    .query('SELECT id FROM organizations ORDER BY id')
    .values()
    .flat()
  fillOrganization(books.sqlite, String(acme), String(other), 10_000)
  const { code, out, err } = await say(orgs, 'delete', 'acme', '--yes')
  expect([code, out]).toEqual([0, 'Deleted the organization acme.'])
  expect(err).toMatch(/^Deleting the organization acme: [\d,]+ rows deleted so far\.$/m)
}, 30_000)
