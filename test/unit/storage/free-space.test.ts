import { Database as Sqlite } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { createLog, silentLog } from '../../../src/lib/log.ts'
import { createCompletions } from '../../../src/storage/scripts/completions.ts'
import type { NewCompletion } from '../../../src/storage/ports/completions.ts'
import { completionSearch, insertCompletion } from '../../../src/storage/sqlite/completion-search.ts'
import { createScriptRunner } from '../../../src/storage/sqlite/script-runner.ts'
import { type Database, inMemory, openDatabase } from '../../../src/storage/sqlite/connection/database.ts'
import { createSpaceReturn } from '../../../src/storage/sqlite/connection/file-size.ts'
import { migrate, migrations } from '../../../src/storage/sqlite/connection/migrate.ts'
import { createOrganizations } from '../../../src/storage/scripts/organization-changes.ts'
import { completionId } from '../../support/completion-id.ts'
import { temporaryFolder, testDatabase, testStorage } from './support/folder.ts'
import { testChange } from '../../support/actor.ts'

const moment = Date.UTC(2026, 5, 1)

function pragma({ sqlite }: Pick<Database, 'sqlite'>, name: string): number {
  return Number(sqlite.prepare(`PRAGMA ${name}`).values()[0]?.[0])
}

/** A database with so many completions of 2 kB, each with a rare word and a common one. */
async function startFilled(count: number) {
  const { database, writer } = testStorage()
  const completions = createCompletions(createScriptRunner(database, writer), completionSearch)
  const insert = (completion: NewCompletion) => database.run(insertCompletion(completion))
  const { id: organization } = await createOrganizations(
    createScriptRunner(database, writer),
    testChange,
  ).create('acme')
  const messages = [{ role: 'user', content: 'x'.repeat(2000) }]
  await writer.write(() => {
    for (let number = 0; number < count; number++) {
      insert({
        id: completionId(moment + number),
        organization,
        model: 'acme/river',
        metadata: { own: number, common: 'yes' },
        completion: { object: 'chat.completion' },
        messages,
      })
    }
  })
  return { database, completions, giveBack: createSpaceReturn(database, writer) }
}

/** The size of the posting lists. */
function termsSize({ sqlite }: Database): number {
  return Number(sqlite.prepare('SELECT sum(length(block)) FROM completion_terms_data').values()[0]?.[0])
}

async function repeat(step: () => Promise<number>): Promise<number> {
  let sum = 0
  for (let done = await step(); done > 0; done = await step()) sum += done
  return sum
}

test('a new database can shrink', () => {
  expect(pragma(testDatabase(join(temporaryFolder(), 'weir.db')), 'auto_vacuum')).toBe(2)
  expect(pragma(testDatabase(inMemory), 'auto_vacuum')).toBe(2)
})

test('an older database that cannot shrink is rewritten when it is migrated, once', () => {
  const file = join(temporaryFolder(), 'weir.db')
  const older = new Sqlite(file)
  migrate(older, migrations.slice(0, 2), silentLog)
  older.run('PRAGMA journal_mode = WAL')
  older.run("INSERT INTO organizations (id, name, created_at) VALUES ('org_1', 'acme', 1)")
  expect(pragma({ sqlite: older }, 'auto_vacuum')).toBe(0)
  older.close()
  const lines: string[] = []
  const log = createLog((line) => lines.push(line))
  for (let time = 0; time < 2; time++) {
    const database = openDatabase(file, log)
    expect(pragma(database, 'auto_vacuum')).toBe(2)
    expect(database.sqlite.prepare('SELECT name FROM organizations').values()).toEqual([['acme']])
    database.close()
  }
  expect(lines.filter((line) => line.includes('rebuilt'))).toHaveLength(1)
})

test('the space of expired rows is returned to the disk, also that of their terms', async () => {
  const { database, completions, giveBack } = await startFilled(6000)
  const { sqlite } = database
  sqlite.run('PRAGMA wal_checkpoint(TRUNCATE)')
  const [pages, bytes, terms] = [
    pragma(database, 'page_count'),
    statSync(sqlite.filename).size,
    termsSize(database),
  ]
  expect(await giveBack()).toBe(0)
  expect(await repeat(() => completions.expire(moment + 5500))).toBe(5500)
  expect(termsSize(database)).toBeLessThan(terms / 5)
  expect(pragma(database, 'page_count')).toBe(pages)
  const first = await giveBack()
  expect(first).toBeGreaterThan(0)
  expect(first).toBeLessThanOrEqual(250)
  expect(first + (await repeat(giveBack))).toBeGreaterThan(pages / 2)
  sqlite.run('PRAGMA wal_checkpoint(TRUNCATE)')
  expect(statSync(sqlite.filename).size).toBeLessThan(bytes / 2)
  expect(sqlite.prepare('PRAGMA integrity_check').values()).toEqual([['ok']])
})

test('a little free space is kept for new rows', async () => {
  const { database, completions, giveBack } = await startFilled(1000)
  await repeat(() => completions.expire(moment + 900))
  expect(pragma(database, 'freelist_count')).toBeGreaterThan(100)
  expect(await giveBack()).toBe(0)
})
