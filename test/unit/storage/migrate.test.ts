import { Database as Sqlite } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { createLog, silentLog } from '../../../src/lib/log.ts'
import { migrate, migrations } from '../../../src/storage/sqlite/connection/migrate.ts'
import { testDatabase } from './support/folder.ts'

const added =
  'CREATE TABLE songs (title TEXT);\n--> statement-breakpoint\nCREATE INDEX by_title ON songs (title);'
const broken = 'CREATE TABLE songs (title TEXT);\n--> statement-breakpoint\nCREATE NONSENSE;'
const rebuilt = `PRAGMA foreign_keys=OFF;
--> statement-breakpoint
CREATE TABLE new_organizations AS SELECT * FROM organizations;
--> statement-breakpoint
DROP TABLE organizations;
--> statement-breakpoint
CREATE TABLE organizations (id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL);
--> statement-breakpoint
INSERT INTO organizations SELECT id, name FROM new_organizations;
--> statement-breakpoint
DROP TABLE new_organizations;`

function olderDatabase() {
  const database = testDatabase()
  database.sqlite.run("INSERT INTO organizations (id, name, created_at) VALUES ('org_1', 'acme', 1)")
  database.sqlite.run("INSERT INTO provider_state VALUES ('org_1', 'call_1', 'gemini', '{}', 1)")
  return database
}

function copiesBeside(file: string): string[] {
  return readdirSync(dirname(file)).filter((name) => name.startsWith(`${basename(file)}.schema-`))
}

test('an older database is migrated after a backup of it was made', () => {
  const { file, sqlite } = olderDatabase()
  const lines: string[] = []
  migrate(
    sqlite,
    [...migrations, added],
    createLog((line) => lines.push(line)),
  )
  expect(sqlite.prepare("SELECT name FROM sqlite_schema WHERE name = 'by_title'").values()).toEqual([
    ['by_title'],
  ])
  const [name = '', ...others] = copiesBeside(file)
  expect(others).toEqual([])
  expect(name).toStartWith(`weir.db.schema-${migrations.length}-`)
  expect(lines.join('')).toContain(name)
  const copy = new Sqlite(join(dirname(file), name), { readonly: true })
  expect(copy.prepare('PRAGMA user_version').values()).toEqual([[migrations.length]])
  expect(copy.prepare('SELECT name FROM organizations').values()).toEqual([['acme']])
  expect(copy.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'songs'").values()).toEqual([])
  copy.close()
  if (process.platform !== 'win32') expect(statSync(join(dirname(file), name)).mode & 0o777).toBe(0o600)
})

test('a failed migration leaves the database unchanged and no backup behind', () => {
  const { file, sqlite } = olderDatabase()
  expect(() => migrate(sqlite, [...migrations, broken], silentLog)).toThrow('NONSENSE')
  expect(sqlite.prepare('PRAGMA user_version').values()).toEqual([[migrations.length]])
  expect(sqlite.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'songs'").values()).toEqual([])
  expect(sqlite.prepare('SELECT name FROM organizations').values()).toEqual([['acme']])
  expect(copiesBeside(file)).toEqual([])
})

test('a backup that is not complete has another name, and is removed at once or by the next migration', () => {
  const { file, sqlite } = olderDatabase()
  sqlite.run(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
    INSERT INTO provider_state SELECT 'org_1', 'many_' || i, 'gemini', hex(zeroblob(500)), 1 FROM n`)
  sqlite.run('PRAGMA wal_checkpoint(TRUNCATE)')
  const intact = readFileSync(file)
  const [leftover, journal] = ['part', 'part-journal'].map((end) => `${file}.schema-1-2026-01-01.${end}`)
  for (const name of [leftover, journal]) writeFileSync(name ?? '', 'incomplete')
  // The copy fails in the middle.
  writeFileSync(file, Buffer.from(intact).fill(7, intact.length / 2, intact.length / 2 + 8192))
  const damaged = new Sqlite(file)
  expect(() => migrate(damaged, [...migrations, added], silentLog)).toThrow('malformed')
  damaged.close()
  expect(copiesBeside(file)).toEqual([])

  writeFileSync(file, intact)
  for (const name of [leftover, journal]) writeFileSync(name ?? '', 'incomplete')
  const repaired = new Sqlite(file)
  migrate(repaired, [...migrations, added], silentLog)
  repaired.close()
  const [name = '', ...others] = copiesBeside(file)
  expect(others).toEqual([])
  expect(name).not.toContain('.part')
  using copy = new Sqlite(join(dirname(file), name), { readonly: true })
  expect(copy.prepare('SELECT count(*) FROM provider_state').values()).toEqual([[2001]])
})

test('a rebuilt table keeps the rows that reference its rows', () => {
  const { sqlite } = olderDatabase()
  migrate(sqlite, [...migrations, rebuilt], silentLog)
  expect(sqlite.prepare('SELECT call_id FROM provider_state').values()).toEqual([['call_1']])
})

test('of two successive migrations only the first makes a backup and changes the database', () => {
  const { file, sqlite } = olderDatabase()
  const other = testDatabase(file)
  migrate(sqlite, [...migrations, added], silentLog)
  migrate(other.sqlite, [...migrations, added], silentLog)
  expect(copiesBeside(file)).toHaveLength(1)
})
