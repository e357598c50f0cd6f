import { describe, expect, onTestFinished, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLog } from '../../../src/lib/log.ts'
import { openDatabase } from '../../../src/storage/sqlite/connection/database.ts'
import { runWeir } from '../../cli/support/run-weir.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { startProxy } from '../../support/postgres/proxy.ts'
import { execute, hasPostgres, sharedPostgres } from '../../support/postgres/server.ts'
import { weirCommand } from '../../support/weir-command.ts'

const rows = 60_000

describe.skipIf(!hasPostgres)('a copy that is killed', () => {
  test('leaves a PostgreSQL database that no server uses, and starts over', async () => {
    const { folder, url, slow } = await startCopies()
    fillSqlite(join(folder, 'data', 'weir.db'))
    const copying = spawnCopy(folder, '--data', 'data', '--to', slow)
    const copied = () => execute(url, 'SELECT 1 FROM usage LIMIT 1').catch(() => [])
    await waitUntil(async () => (await copied()).length > 0, 'rows of the table usage')
    copying.kill('SIGKILL')
    await copying.exited
    expect(copying.signalCode).toBe('SIGKILL')
    const served = await runWeir(['serve', '--port', '0'], folder, { WEIR_DATABASE: url })
    expect(served).toMatchObject({ code: 1, err: expect.stringContaining('has an unfinished copy') })
    const again = await runWeir(['copy', '--data', 'data', '--to', url, '--json'], folder)
    expect(again.code).toBe(0)
    expect(JSON.parse(again.out).rows).toMatchObject({ organizations: 1, usage: rows })
    expect(await execute(url, 'SELECT count(*)::int rows FROM usage')).toEqual([{ rows }])
    expect((await runWeir(['orgs', 'list'], folder, { WEIR_DATABASE: url })).out).toContain('acme')
  }, 120_000)

  test('when it has just created the tables leaves a database that no server uses, and starts over', async () => {
    const { folder, url, slow, proxy } = await startCopies()
    fillSqlite(join(folder, 'data', 'weir.db'))
    proxy.cutAfterCommit(1)
    expect(await spawnCopy(folder, '--data', 'data', '--to', slow).exited).toBe(1)
    expect(proxy.cutCommits()).toBe(1)
    const version = () => execute(url, 'SELECT version FROM schema_version').catch(() => [])
    await waitUntil(async () => (await version()).length > 0, 'the end of the transaction')
    const listed = await runWeir(['orgs', 'list'], folder, { WEIR_DATABASE: url })
    expect(listed).toMatchObject({ code: 1, err: expect.stringContaining('has an unfinished copy') })
    const served = await runWeir(['serve', '--port', '0'], folder, { WEIR_DATABASE: url })
    expect(served).toMatchObject({ code: 1, err: expect.stringContaining('has an unfinished copy') })
    const again = await runWeir(['copy', '--data', 'data', '--to', url, '--json'], folder)
    expect(again.code).toBe(0)
    expect(JSON.parse(again.out).rows).toMatchObject({ organizations: 1, usage: rows })
    expect((await runWeir(['orgs', 'list'], folder, { WEIR_DATABASE: url })).out).toContain('acme')
  }, 120_000)

  test('leaves no SQLite database, and starts over', async () => {
    const { folder, url, slow } = await startCopies()
    fillSqlite(join(folder, 'data', 'weir.db'))
    expect((await runWeir(['copy', '--data', 'data', '--to', url], folder)).code).toBe(0)
    const copying = spawnCopy(folder, '--from', slow, '--to', 'back')
    const part = join(folder, 'back', 'weir.db.part-wal')
    await waitUntil(() => existsSync(part) && Bun.file(part).size > 1e6, 'a part of the file')
    copying.kill('SIGKILL')
    await copying.exited
    expect(copying.signalCode).toBe('SIGKILL')
    expect(existsSync(join(folder, 'back', 'weir.db'))).toBe(false)
    const again = await runWeir(['copy', '--from', url, '--to', 'back'], folder)
    expect(again).toMatchObject({ code: 0, out: expect.stringContaining(String(rows)) })
    expect(existsSync(`${join(folder, 'back', 'weir.db')}.part`)).toBe(false)
  }, 120_000)
})

describe.skipIf(!hasPostgres)('a copy whose connection to PostgreSQL is lost', () => {
  test('into it ends with a sentence that says what to do', async () => {
    const { folder, url, slow, proxy } = await startCopies()
    fillSqlite(join(folder, 'data', 'weir.db'))
    const copying = spawnCopy(folder, '--data', 'data', '--to', slow)
    const copied = () => execute(url, 'SELECT 1 FROM usage LIMIT 1').catch(() => [])
    await waitUntil(async () => (await copied()).length > 0, 'rows of the table usage')
    proxy.cut()
    await expectLost(copying, slow)
  }, 120_000)

  test('out of it does so too, and leaves no database', async () => {
    const { folder, url, slow, proxy } = await startCopies()
    fillSqlite(join(folder, 'data', 'weir.db'))
    expect((await runWeir(['copy', '--data', 'data', '--to', url], folder)).code).toBe(0)
    const copying = spawnCopy(folder, '--from', slow, '--to', 'back')
    const part = join(folder, 'back', 'weir.db.part-wal')
    await waitUntil(() => existsSync(part) && Bun.file(part).size > 1e6, 'a part of the file')
    proxy.cut()
    await expectLost(copying, slow)
    expect(existsSync(join(folder, 'back', 'weir.db'))).toBe(false)
  }, 120_000)
})

async function expectLost(copying: ReturnType<typeof spawnCopy>, url: string): Promise<void> {
  const { host, pathname } = new URL(url)
  expect(await copying.exited).toBe(1)
  expect(await copying.stderr.text()).toEndWith(
    `The connection to the database ${host}${pathname} was lost. Run weir copy again, which starts over.\n`,
  )
}

/** A folder and a database. `slow` is its URL by a proxy in this process: no copy is complete before the test can kill it. */
async function startCopies() {
  const folder = mkdtempSync(join(tmpdir(), 'weir-copy-'))
  const server = await sharedPostgres()
  const url = await server.createDatabase()
  const proxy = await startProxy(server.port)
  proxy.delay(10)
  onTestFinished(async () => {
    proxy[Symbol.dispose]()
    rmSync(folder, { recursive: true, force: true })
    await server.dropDatabase(url)
  })
  return { folder, url, slow: proxy.through(url), proxy }
}

function spawnCopy(folder: string, ...flags: readonly string[]) {
  const child = Bun.spawn([...weirCommand, 'copy', ...flags], {
    cwd: folder,
    env: { HOME: folder },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
  })
  onTestFinished(() => child.kill('SIGKILL'))
  return child
}

function fillSqlite(file: string): void {
  mkdirSync(join(file, '..'))
  const database = openDatabase(file, silentLog)
  database.sqlite.run(`INSERT INTO organizations (id, name, created_at) VALUES ('o', 'acme', 1)`)
  database.sqlite.run(
    `INSERT INTO usage (id, organization_id, key_id, created_at, api, stream, prompt_tokens, completion_tokens,
       cached_tokens, cache_write_tokens, reasoning_tokens, estimated, status)
     WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
     SELECT 'req_' || i, 'o', 'k', i / 7, 'chat', i % 2, i, 1, 0, 0, 0, 0, 200 FROM n`,
  )
  database.close()
}
