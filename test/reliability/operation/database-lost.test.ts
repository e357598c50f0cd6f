import { Database as Sqlite } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { renameSync, unlinkSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { lockTrustMs } from '../../../src/storage/sqlite/health.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { temporaryFolder } from '../../unit/storage/support/folder.ts'
import type { App } from '../../support/app.ts'
import { jsonReply } from '../../support/chat-fixtures.ts'
import { readError } from '../../support/chat-reply.ts'
import { chatRequest, type Scenario, type ScenarioOptions, startScenario } from '../../support/scenario.ts'

/** A gateway whose callers pay nothing, so that nothing is written before a provider is asked. */
async function startOnFile(options: Pick<ScenarioOptions, 'lockTimeoutMs'> = {}) {
  const file = `${temporaryFolder()}/weir.db`
  return { file, ...(await startScenario(jsonReply(), { ...options, database: file })) }
}

/** Whether the files lie where they lay, and are free, is looked at many times in a second, and not for each call. */
async function untilNoticed(app: App): Promise<void> {
  await waitUntil(async () => (await app.request('/readyz')).status === 503, 'a look at the files')
}

/** Asks, and sees that the answer is a 503 that no provider heard of, and that readiness says why. */
async function expectRefused({ app, acme }: Scenario, why: string): Promise<void> {
  const requested = acme.requests.length
  for (const stream of [false, true]) {
    const reply = await app.chat({ ...chatRequest, stream })
    expect(reply.headers.get('retry-after')).toBe('1')
    expect(await readError(reply)).toEqual({
      status: 503,
      type: 'service_unavailable_error',
      code: 'service_unavailable',
      param: null,
      message: 'The database of the gateway is unavailable. Try again later.',
    })
  }
  expect(acme.requests.length).toBe(requested)
  const { status, message } = await readError(await app.request('/readyz'))
  expect([status, message]).toEqual([503, `The gateway is not ready. The database ${why}.`])
  expect((await app.request('/livez')).status).toBe(200)
}

/** Serves again without a start, and each refused request has its row. */
async function expectRecovered({ app, acme }: Scenario, file: string, refused: number): Promise<void> {
  await waitUntil(async () => (await app.request('/readyz')).status === 200, 'a recovery')
  const requested = acme.requests.length
  expect((await app.chat(chatRequest)).status).toBe(200)
  expect(acme.requests.length).toBe(requested + 1)
  using sqlite = new Sqlite(file, { readonly: true })
  const count = sqlite.query<{ count: number }, [number]>(
    'SELECT count(*) AS count FROM usage WHERE status = ?',
  )
  await waitUntil(() => count.get(503)?.count === refused, `${refused} rows of refused requests`)
  expect(app.lines.filter((line) => line.includes('available again')).length).toBe(1)
}

test('a database that another process locks is a 503 before any provider is called, until it is unlocked', async () => {
  await using gateway = await startOnFile()
  expect((await gateway.app.chat(chatRequest)).status).toBe(200)
  const other = new Sqlite(gateway.file)
  other.run('BEGIN EXCLUSIVE')
  await untilNoticed(gateway.app)
  await expectRefused(gateway, 'is locked by another process')
  other.close()
  await expectRecovered(gateway, gateway.file, 2)
})

test('a short database lock is waited for, while everything else continues', async () => {
  await using gateway = await startOnFile({ lockTimeoutMs: 60_000 })
  const other = new Sqlite(gateway.file)
  other.run('BEGIN IMMEDIATE')
  // The last commit before the lock shows for this time that the database is not locked.
  await Bun.sleep(lockTrustMs)
  const reply = gateway.app.chat(chatRequest)
  for (let round = 0; round < 5; round++) expect((await gateway.app.request('/livez')).status).toBe(200)
  expect(gateway.acme.requests).toEqual([])
  other.close()
  expect((await reply).status).toBe(200)
  expect(gateway.app.lines.join()).not.toContain('is unavailable')
})

test.skipIf(process.platform === 'win32')(
  'a database file that was moved away is a 503 until it is back; another one in its place is rejected',
  async () => {
    await using gateway = await startOnFile()
    const { file, app } = gateway
    expect((await app.chat(chatRequest)).status).toBe(200)
    renameSync(file, `${file}.away`)
    await untilNoticed(app)
    await expectRefused(gateway, 'was moved or replaced')
    await Bun.write(file, 'another')
    await expectRefused(gateway, 'was moved or replaced')
    renameSync(`${file}.away`, file)
    await expectRecovered(gateway, file, 4)
  },
)

test.skipIf(process.platform === 'win32')(
  'a deleted write-ahead log is treated like a missing database',
  async () => {
    await using gateway = await startOnFile()
    const { file, app } = gateway
    renameSync(`${file}-wal`, `${file}-wal.away`)
    await untilNoticed(app)
    await expectRefused(gateway, 'was moved or replaced')
    renameSync(`${file}-wal.away`, `${file}-wal`)
    await expectRecovered(gateway, file, 2)
  },
)

test.skipIf(process.platform === 'win32')(
  'a folder that cannot be read any more is a 503 that says so, until it can',
  async () => {
    await using gateway = await startOnFile()
    const { file, app } = gateway
    const folder = dirname(file)
    expect((await app.chat(chatRequest)).status).toBe(200)
    renameSync(folder, `${folder}.away`)
    writeFileSync(folder, '')
    await untilNoticed(app)
    await expectRefused(gateway, 'cannot be read or written')
    expect(app.lines.join()).toContain('part of the path is not a folder (ENOTDIR)')
    unlinkSync(folder)
    renameSync(`${folder}.away`, folder)
    await expectRecovered(gateway, file, 2)
  },
)
