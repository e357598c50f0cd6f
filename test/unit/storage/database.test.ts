import { Database as Sqlite } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { silentLog } from '../../../src/lib/log.ts'
import { openDatabase } from '../../../src/storage/sqlite/connection/database.ts'
import { migrations } from '../../../src/storage/sqlite/connection/migrate.ts'
import { startScript, temporaryFolder, testDatabase } from './support/folder.ts'

const drizzleFolder = join(import.meta.dir, '../../../drizzle')

test('the embedded migrations are the files of drizzle-kit, in the order of its journal', () => {
  const journal = JSON.parse(readFileSync(join(drizzleFolder, 'meta/_journal.json'), 'utf8'))
  const tags: string[] = journal.entries.map(({ tag }: { tag: string }) => tag)
  const files = readdirSync(drizzleFolder).filter((name) => name.endsWith('.sql'))
  expect(files.toSorted()).toEqual(tags.map((tag) => `${tag}.sql`))
  expect([...migrations]).toEqual(tags.map((tag) => readFileSync(join(drizzleFolder, `${tag}.sql`), 'utf8')))
})

test('a new database uses WAL, full sync, a busy timeout and foreign keys', () => {
  const { sqlite } = testDatabase(join(temporaryFolder(), 'weir.db'))
  const pragma = (name: string) => sqlite.prepare<unknown[], []>(`PRAGMA ${name}`).values()[0]?.[0]
  expect(pragma('journal_mode')).toBe('wal')
  expect(pragma('synchronous')).toBe(1)
  expect(pragma('busy_timeout')).toBe(20)
  expect(pragma('foreign_keys')).toBe(1)
  expect(pragma('user_version')).toBe(migrations.length)
})

test.skipIf(process.platform === 'win32')('only the owner may read the data folder and its files', () => {
  const folder = join(temporaryFolder(), 'data')
  const { sqlite } = testDatabase(join(folder, 'weir.db'))
  sqlite.run("INSERT INTO organizations (id, name, created_at) VALUES ('org_1', 'a', 1)")
  expect(statSync(folder).mode & 0o777).toBe(0o700)
  const files = readdirSync(folder)
  expect(files).toContain('weir.db-wal')
  for (const file of files) expect([file, statSync(join(folder, file)).mode & 0o777]).toEqual([file, 0o600])
})

test('an existing folder keeps its permissions', () => {
  const folder = temporaryFolder()
  chmodSync(folder, 0o750)
  const before = statSync(folder).mode
  testDatabase(join(folder, 'weir.db'))
  expect(statSync(folder).mode).toBe(before)
})

test('opening a database again changes nothing and copies nothing', () => {
  const { file, sqlite } = testDatabase()
  sqlite.run("INSERT INTO organizations (id, name, created_at) VALUES ('org_1', 'a', 1)")
  const again = testDatabase(file)
  expect(again.sqlite.prepare('SELECT name FROM organizations').values()).toEqual([['a']])
  expect(readdirSync(join(file, '..')).filter((name) => name.includes('schema'))).toEqual([])
})

test('a database of a newer version is rejected with a message, and stays unchanged', () => {
  const { file, sqlite } = testDatabase()
  sqlite.run('PRAGMA user_version = 999')
  expect(() => openDatabase(file, silentLog)).toThrow(
    `was written by a newer version of weir (schema 999, this one supports ${migrations.length}).`,
  )
  expect(sqlite.prepare('PRAGMA user_version').values()).toEqual([[999]])
})

test('the database of another program is rejected and not modified', () => {
  const file = join(temporaryFolder(), 'weir.db')
  const other = new Sqlite(file)
  other.run('CREATE TABLE songs (title TEXT)')
  expect(() => openDatabase(file, silentLog)).toThrow('is the database of another program')
  expect(other.prepare('SELECT name FROM sqlite_schema').values()).toEqual([['songs']])
  expect(other.prepare('PRAGMA journal_mode').values()).toEqual([['delete']])
  other.close()
})

test('a file that is not a database is rejected with its name', () => {
  const file = join(temporaryFolder(), 'weir.db')
  writeFileSync(
    file,
    'a letter to a friend, long enough to have a header, and surely not of SQLite'.repeat(9),
  )
  expect(() => openDatabase(file, silentLog)).toThrow(
    `The database ${file} cannot be opened: it is damaged, or not a database of SQLite.`,
  )
})

test('processes that open a new database at the same moment all succeed', async () => {
  const file = join(temporaryFolder(), 'data', 'weir.db')
  const openers = Array.from({ length: 4 }, () => startScript('unit/storage/support/open-once.ts', file))
  const ends = openers.map(async (opener) => [await opener.exited, await new Response(opener.stderr).text()])
  expect(await Promise.all(ends)).toEqual(openers.map(() => [0, '']))
  expect(existsSync(file)).toBe(true)
})
