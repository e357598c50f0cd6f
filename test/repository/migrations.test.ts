import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { migrations } from '../../src/storage/postgres/connection/migrate.ts'
import { migrations as sqliteMigrations } from '../../src/storage/sqlite/connection/migrate.ts'
import { projectFolder } from '../support/source.ts'

test.each([
  ['drizzle', sqliteMigrations],
  ['drizzle/postgres', migrations],
])('the migrations of %s are its files, in the order of their numbers', (folder, list) => {
  const names = readdirSync(join(projectFolder, folder)).filter((name) => name.endsWith('.sql'))
  const texts = names.toSorted().map((name) => readFileSync(join(projectFolder, folder, name), 'utf8'))
  expect(list).toEqual(texts)
})

/** The statements of a migration, each on one line. */
function statementsOf(migration: string): readonly string[] {
  return migration
    .split('--> statement-breakpoint')
    .map((statement) => statement.replace(/\s+/g, ' ').trim())
    .filter(Boolean)
}

const created = /^CREATE TABLE "(\w+)"/

/**
 * Repairs of rows whose values mean the same to servers of every version: the ids of entries that `weir copy` has copied
 * from a SQLite file begin with 1970, where its migration 20 gives them their time.
 */
const repairs = [/^UPDATE "ledger" SET "id" = 'led_' /]

/** Whether servers of an earlier version, which know nothing of it, can still read and write every table. */
function isAdditive(statement: string, newTables: ReadonlySet<string>): boolean {
  if (created.test(statement)) return true
  const [, table = ''] =
    /^(?:ALTER TABLE|INSERT INTO|CREATE (?:UNIQUE )?INDEX "\w+" ON) "(\w+)"/.exec(statement) ?? []
  if (newTables.has(table)) return true
  if (statement.startsWith('CREATE INDEX ') || repairs.some((repair) => repair.test(statement))) return true
  const isColumn = /^ALTER TABLE "\w+" ADD COLUMN /.test(statement)
  return isColumn && !/ (CHECK|REFERENCES|UNIQUE) /.test(statement) && isOptional(statement)
}

/** They insert rows without the column. */
function isOptional(statement: string): boolean {
  return !statement.includes('NOT NULL') || statement.includes(' DEFAULT ')
}

test('a migration of PostgreSQL only adds, because servers of the version before it still run', () => {
  for (const [index, migration] of migrations.entries()) {
    // The first one creates the database.
    if (index === 0) continue
    const statements = statementsOf(migration)
    const newTables = new Set(statements.flatMap((statement) => created.exec(statement)?.[1] ?? []))
    const others = statements.filter((statement) => !isAdditive(statement, newTables))
    expect([index, others]).toEqual([index, []])
  }
})

test.each([
  ['drops a column', 'ALTER TABLE "usage" DROP COLUMN "user"'],
  ['renames a table', 'ALTER TABLE "usage" RENAME TO "calls"'],
  ['adds a column that needs a value', 'ALTER TABLE "usage" ADD COLUMN "added" text NOT NULL'],
  ['adds a constraint', 'ALTER TABLE "usage" ADD CONSTRAINT "positive" CHECK ("cost" > 0)'],
  ['forbids duplicates', 'CREATE UNIQUE INDEX "once" ON "usage" ("user")'],
  ['changes rows', 'UPDATE "usage" SET "cost" = 0'],
  ['changes amounts', 'UPDATE "ledger" SET "amount" = 1'],
])('a migration that %s is not additive', (_, statement) => {
  expect(isAdditive(statement, new Set())).toBe(false)
})
