import { Database as Sqlite } from 'bun:sqlite'
import { expect, onTestFinished, test } from 'bun:test'
import { readdirSync, readlinkSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createLog } from '../../../src/lib/log.ts'
import { checkpointPages, inMemory, maxWalBytes } from '../../../src/storage/sqlite/connection/database.ts'
import { limitWalSize, type WalLimit } from '../../../src/storage/sqlite/connection/file-size.ts'
import { Writer } from '../../../src/storage/sqlite/writer.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { testDatabase } from './support/folder.ts'

const rounds = 80
const megabyte = 'x'.repeat(1_000_000)

/** A database whose log is kept short. */
function watched() {
  const database = testDatabase()
  const { sqlite, file } = database
  const writer = new Writer(database, { onCommit: () => wal.committed() })
  const lines: string[] = []
  const log = createLog((line) => void lines.push(line))
  let looks = 0
  const times = { checkDelayMs: 10, retryAfterMs: 10 }
  const counting = {
    ...times,
    get retryAfterMs() {
      return (looks++, times.retryAfterMs)
    },
  }
  const wal: WalLimit = limitWalSize(database, writer, log, counting)
  onTestFinished(() => wal.stop())
  sqlite.run('CREATE TABLE songs (title TEXT)')
  const insert = sqlite.prepare('INSERT INTO songs VALUES (?)')
  const numberOf = (query: string) => Number(sqlite.query(query).values()[0]?.[0])
  return {
    database,
    writer,
    wal,
    lines,
    looks: () => looks,
    file,
    size: () => statSync(`${file}-wal`).size,
    pages: () => Number(sqlite.query('PRAGMA wal_checkpoint(NOOP)').values()[0]?.[1]),
    automatic: () => numberOf('PRAGMA wal_autocheckpoint'),
    count: () => numberOf('SELECT count(*) FROM songs'),
    add: (title = megabyte) => writer.write(() => void insert.run(title)),
    read: () => {
      const reader = new Sqlite(file, { readonly: true })
      onTestFinished(() => reader.close())
      reader.run('BEGIN')
      reader.query('SELECT count(*) FROM songs').values()
      return reader
    },
  }
}

test('a write-ahead log that grew during a long read is short again after it, without another write', async () => {
  const one = watched()
  const reader = one.read()
  for (let round = 0; round < rounds; round++) await one.add()
  expect(one.size()).toBeGreaterThan(rounds * 1_000_000)
  reader.close()
  await waitUntil(() => one.size() <= maxWalBytes, 'a short file')
  expect(one.pages()).toBeLessThan(10)
  await one.add()
  expect([one.count(), one.lines]).toEqual([rounds + 1, []])
})

test('a write-ahead log stays short, and no commit makes a checkpoint, while writes never pause', async () => {
  const one = watched()
  const ended = new AbortController()
  let added = 0
  const write = async () => {
    while (!ended.signal.aborted) {
      await one.add('x'.repeat(20_000))
      added++
    }
  }
  const writing = Array.from({ length: 4 }, write)
  let [restarts, before] = [0, 0]
  const restarted = () => {
    const pages = one.pages()
    if (pages < before) restarts++
    before = pages
    return restarts >= 5
  }
  await waitUntil(restarted, 'five new logs')
  ended.abort()
  await Promise.all(writing)
  await waitUntil(() => one.size() <= maxWalBytes, 'a short file')
  expect([one.automatic(), one.count(), one.lines]).toEqual([0, added, []])
})

test('a short write-ahead log is not copied', async () => {
  const one = watched()
  for (let round = 0; round < 5; round++) await one.add()
  const pages = one.pages()
  expect(pages).toBeGreaterThan(1000)
  expect(pages).toBeLessThan(checkpointPages)
  const before = one.looks()
  await waitUntil(async () => (await one.add('short'), one.looks() > before + 2), 'some looks')
  expect(one.pages()).toBeGreaterThan(pages)
})

test('commits make the checkpoints while the thread cannot, and it is tried again', async () => {
  const one = watched()
  renameSync(one.file, `${one.file}.away`)
  while (one.size() <= maxWalBytes / 2) await one.add()
  await waitUntil(() => one.automatic() === checkpointPages, 'commits that make checkpoints')
  expect(JSON.parse(one.lines[0] ?? '')).toMatchObject({
    level: 'warn',
    message: 'The write-ahead log of the database could not be checkpointed.',
    cause: 'Error: unable to open database file',
  })
  await one.add()
  renameSync(`${one.file}.away`, one.file)
  await waitUntil(() => one.automatic() === 0, 'checkpoints in the thread')
})

test.if(process.platform === 'linux')('a stop closes the log that the thread has opened', async () => {
  const one = watched()
  const opened = () => openFiles().filter((path) => path === `${one.file}-wal`).length
  for (let round = 0; round < 20; round++) await one.add()
  await waitUntil(() => one.pages() < checkpointPages, 'a checkpoint')
  expect(opened()).toBe(3)
  await one.wal.stop()
  expect(opened()).toBe(2)
})

/** The paths of the files that this process has open. */
function openFiles(): string[] {
  const folder = '/proc/self/fd'
  return readdirSync(folder).flatMap((name) => {
    try {
      return readlinkSync(join(folder, name))
    } catch {
      // It was that of the folder.
      return []
    }
  })
}

test('a database in memory has no log', async () => {
  const database = testDatabase(inMemory)
  const wal = limitWalSize(database, new Writer(database), createLog())
  wal.committed()
  await wal.stop()
})
