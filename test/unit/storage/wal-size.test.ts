import { Database as Sqlite } from 'bun:sqlite'
import { expect, onTestFinished, test } from 'bun:test'
import { statSync } from 'node:fs'
import { createLog } from '../../../src/lib/log.ts'
import { maxWalBytes } from '../../../src/storage/sqlite/connection/database.ts'
import { limitWalSize } from '../../../src/storage/sqlite/connection/wal-size.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { testStorage } from './support/folder.ts'

const rounds = 80
const megabyte = 'x'.repeat(1_000_000)

/** A database whose log is kept small, and a reader on another connection that keeps it from being carried over. */
function watched(interval = 10) {
  const { database, writer } = testStorage()
  const { sqlite, file } = database
  sqlite.run('CREATE TABLE songs (title TEXT)')
  const insert = sqlite.prepare('INSERT INTO songs VALUES (?)')
  const lines: string[] = []
  let looks = 0
  const kept = limitWalSize(
    database,
    { stats: () => (looks++, writer.stats()) },
    createLog((line) => void lines.push(line)),
    interval,
  )
  onTestFinished(kept.stop)
  const automatic = () => Number(sqlite.query('PRAGMA wal_autocheckpoint').values()[0]?.[0])
  return {
    lines,
    automatic,
    looks: () => looks,
    size: () => statSync(`${file}-wal`).size,
    add: () => writer.write(() => void insert.run(megabyte)),
    count: () => sqlite.query('SELECT count(*) FROM songs').values()[0]?.[0],
    read: () => {
      const reader = new Sqlite(file, { readonly: true })
      onTestFinished(() => reader.close())
      reader.run('BEGIN')
      reader.query('SELECT count(*) FROM songs').values()
      return reader
    },
  }
}

test('a write-ahead log that grew during a long read is empty again after it', async () => {
  const one = watched()
  const reader = one.read()
  for (let round = 0; round < rounds; round++) await one.add()
  expect(one.size()).toBeGreaterThan(rounds * 1_000_000)
  await waitUntil(() => one.automatic() === 0, 'a log that no commit has to carry over')
  expect(one.size()).toBeGreaterThan(rounds * 1_000_000)
  reader.close()
  await waitUntil(() => one.size() === 0, 'an empty log')
  await waitUntil(() => one.automatic() > 0, 'commits that carry the log over')
  await one.add()
  expect([one.count(), one.lines]).toEqual([rounds + 1, []])
})

test('a write-ahead log is truncated, too, while others continue to write', async () => {
  const one = watched()
  const reader = one.read()
  for (let round = 0; round < rounds; round++) await one.add()
  await waitUntil(() => one.automatic() === 0, 'a log that no commit has to carry over')
  reader.close()
  const written = async () => (await one.add(), one.size() <= maxWalBytes)
  await waitUntil(written, 'a short log', 20_000)
  expect(one.lines).toEqual([])
})

test('a short write-ahead log is not truncated', async () => {
  const one = watched()
  for (let round = 0; round < 5; round++) await one.add()
  const size = one.size()
  expect(size).toBeGreaterThan(5_000_000)
  const before = one.looks()
  await waitUntil(() => one.looks() > before + 3, 'some looks at an idle database')
  expect([one.size(), one.automatic()]).toEqual([size, 4000])
})
