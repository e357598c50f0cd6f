import { Database as Sqlite } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { Client } from 'pg'
import { run } from '../../src/cli/run.ts'
import { retryWhileBusy } from '../../src/storage/common/busy-retries.ts'
import { isBusy } from '../../src/storage/sqlite/sqlite-errors.ts'
import { waitUntil } from '../support/billing-database.ts'
import { execute, hasPostgres, sharedPostgres } from '../support/postgres/server.ts'
import { storageFixture } from './support/storage-fixture.ts'

/** Starts a command; `err` grows while it runs. */
function start(args: readonly string[], environment: Readonly<Record<string, string>>) {
  const written = { out: '', err: '' }
  const ended = run(args, {
    environment,
    cwd: '/',
    home: '/',
    out: (text) => void (written.out += text),
    err: (text) => void (written.err += text),
  })
  return { written, ended }
}

const notice = 'The database is busy. Waiting for it, up to 30 s.'

test('a command waits with a notice while another process writes to the file', async () => {
  const { data } = storageFixture()
  const environment = { WEIR_DATA: data }
  expect(await start(['orgs', 'create', 'first'], environment).ended).toBe(0)
  const other = new Sqlite(join(data, 'weir.db'))
  other.run('BEGIN IMMEDIATE')
  const waiting = start(['orgs', 'create', 'acme'], environment)
  await waitUntil(async () => waiting.written.err !== '', 'the notice')
  expect(waiting.written).toEqual({ out: '', err: notice })
  // A command that prints JSON has only JSON on standard error.
  const silent = start(['keys', 'create', '--org', 'first', '--json'], environment)
  other.run('COMMIT')
  other.close()
  expect([await waiting.ended, await silent.ended]).toEqual([0, 0])
  expect(waiting.written.out).toStartWith('Created the organization acme')
  expect([waiting.written.err, silent.written.err]).toEqual([notice, ''])
})

test('a database that stays busy ends the wait with an error, and any other error does so at once', async () => {
  const { data } = storageFixture()
  await start(['orgs', 'create', 'first'], { WEIR_DATA: data }).ended
  const [one, other] = [new Sqlite(join(data, 'weir.db')), new Sqlite(join(data, 'weir.db'))]
  one.run('BEGIN IMMEDIATE')
  let attempts = 0
  const write = () => {
    attempts++
    other.run('BEGIN IMMEDIATE')
  }
  const failure = retryWhileBusy(write, { isBusy, onWait() {}, timeoutMs: 200 })
  expect(await failure.catch(String)).toContain('The database is still busy after 0.2 s. Try again later.')
  expect(attempts).toBeGreaterThan(1)
  const invalid = retryWhileBusy(() => void other.run('INVALID'), { isBusy, onWait() {} })
  expect(await invalid.catch(String)).toContain('syntax error')
  one.close()
  other.close()
})

describe.skipIf(!hasPostgres)('with PostgreSQL', () => {
  test('a command waits with a notice while another transaction has locked the row', async () => {
    const server = await sharedPostgres()
    const url = await server.createDatabase()
    const environment = { WEIR_DATABASE: url }
    expect(await start(['orgs', 'create', 'acme'], environment).ended).toBe(0)
    const other = new Client({ connectionString: url })
    await other.connect()
    await other.query({ text: "BEGIN; UPDATE organizations SET billing = 'none'" })
    const waiting = start(['orgs', 'credit', 'acme', '5'], environment)
    await waitUntil(async () => waiting.written.err !== '', 'the notice')
    expect(waiting.written).toEqual({ out: '', err: notice })
    await other.query({ text: 'COMMIT' })
    await other.end()
    expect(await waiting.ended).toBe(0)
    expect(await execute(url, 'SELECT balance::text FROM organizations')).toEqual([{ balance: '5000000000' }])
  })
})
