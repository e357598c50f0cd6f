import { expect, onTestFinished, test } from 'bun:test'
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'
import type { ApiError } from '../../../src/lib/errors/errors.ts'
import { createLog } from '../../../src/lib/log.ts'
import { probeTrustMs } from '../../../src/storage/common/shared-probe.ts'
import { createHealth, createReadiness } from '../../../src/storage/sqlite/health.ts'
import { Writer } from '../../../src/storage/sqlite/writer.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { testDatabase } from './support/folder.ts'

/** A database with songs in it, what watches over it, and what that has said. */
function watched() {
  const database = testDatabase()
  const { sqlite, file } = database
  sqlite.run('CREATE TABLE songs (title TEXT)')
  const lines: string[] = []
  const health = createHealth(
    database,
    createLog((line) => void lines.push(line)),
    { fix() {} },
  )
  onTestFinished(() => health.close())
  const writer = new Writer(database, { health })
  const { ready, probe: examine } = createReadiness(database, writer, health)
  const commits = () => writer.stats().commits
  const add = (title: string) =>
    writer.write(() => void sqlite.prepare('INSERT INTO songs VALUES (?)').run(title))
  const titles = () => sqlite.query('SELECT title FROM songs').values().flat()
  const well = () => waitUntil(() => health.unavailableError() === undefined, 'a recovery')
  return { sqlite, file, lines, health, add, titles, ready, examine, commits, well }
}

const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: ApiError) => error,
  )

function pagesOf({ sqlite }: ReturnType<typeof watched>): number {
  return Number(sqlite.query('PRAGMA page_count').values()[0]?.[0])
}

test('after one failed write all are rejected immediately, and readiness reports why, until one succeeds', async () => {
  const one = watched()
  await one.add('before')
  one.sqlite.run('PRAGMA query_only = ON')
  expect((await failure(one.add('lost')))?.status).toBe(503)
  expect(() => one.ready()).toThrow('is unavailable')
  const received = await failure(one.examine())
  expect([received?.status, received?.message]).toEqual([503, 'The database is read-only.'])
  expect((await failure(one.add('also lost')))?.status).toBe(503)
  one.sqlite.run('PRAGMA query_only = OFF')
  await one.well()
  await one.add('after')
  expect(one.ready()).toBeUndefined()
  await one.examine()
  expect(one.titles()).toEqual(['before', 'after'])
  const output = one.lines.map((line) => JSON.parse(line).message)
  expect(output).toEqual([
    'The database is unavailable; requests are rejected.',
    'The database is available again.',
  ])
})

test('a full database has no space until more than a page is free', async () => {
  const one = watched()
  await one.add('before')
  const pages = pagesOf(one)
  one.sqlite.run(`PRAGMA max_page_count = ${pages + 2}`)
  expect((await failure(one.add('x'.repeat(50_000))))?.status).toBe(503)
  expect((await failure(one.examine()))?.message).toBe('The database is out of disk space.')
  one.sqlite.run(`PRAGMA max_page_count = ${pages + 1000}`)
  await one.well()
  await one.add('after')
  expect(one.titles()).toEqual(['before', 'after'])
})

test('a row that alone does not fit rejects nothing else', async () => {
  const one = watched()
  one.sqlite.run(`PRAGMA max_page_count = ${pagesOf(one) + 100}`)
  expect((await failure(one.add('x'.repeat(1_000_000))))?.status).toBe(503)
  await one.well()
  await one.add('small')
  expect(one.titles()).toEqual(['small'])
})

test('a corrupt database is rejected, and accepted again when it is repaired', async () => {
  const one = watched()
  await one.add('before')
  one.sqlite.run('PRAGMA wal_checkpoint(TRUNCATE)')
  const complete = readFileSync(one.file)
  const write = (bytes: Uint8Array) => {
    const descriptor = openSync(one.file, 'r+')
    writeSync(descriptor, bytes, 0, bytes.length, 0)
    closeSync(descriptor)
  }
  write(new Uint8Array(complete.length).fill(7))
  one.sqlite.run('PRAGMA shrink_memory')
  expect((await failure(one.add('lost')))?.status).toBe(503)
  expect((await failure(one.examine()))?.message).toBe(
    'The database is damaged, or not a database of SQLite.',
  )
  write(complete)
  await one.well()
  await one.add('after')
  expect(one.titles()).toEqual(['before', 'after'])
})

test('no write probe happens while writes succeed', async () => {
  const one = watched()
  await one.add('one')
  const size = () => Bun.file(`${one.file}-wal`).size
  const before = size()
  for (let count = 0; count < 100; count++) expect(one.ready()).toBeUndefined()
  expect(size()).toBe(before)
})

test('the write probe leaves no row behind', async () => {
  const one = watched()
  await one.examine()
  one.health.retry()
  expect(one.sqlite.query('SELECT count(*) FROM api_keys').values()).toEqual([[0]])
})

test('a readiness check writes at most once in 250 milliseconds, however often it is called', async () => {
  const one = watched()
  await one.add('one')
  const [opening, committed] = [performance.now(), one.commits()]
  for (let round = 0; round < 100; round++) await Promise.all(Array.from({ length: 20 }, one.examine))
  await waitUntil(async () => (await one.examine(), one.commits() > committed + 2), 'a third write')
  const elapsed = performance.now() - opening
  expect(one.commits() - committed).toBeLessThanOrEqual(1 + Math.floor(elapsed / probeTrustMs))
})

test('a readiness result from before a failure, or a recovery, is not reused', async () => {
  const one = watched()
  await one.examine()
  one.sqlite.run('PRAGMA query_only = ON')
  expect((await failure(one.add('lost')))?.status).toBe(503)
  expect((await failure(one.examine()))?.message).toBe('The database is read-only.')
  one.sqlite.run('PRAGMA query_only = OFF')
  one.health.retry()
  await one.examine()
})
