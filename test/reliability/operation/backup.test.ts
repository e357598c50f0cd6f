import { createScriptRunner } from '../../../src/storage/sqlite/script-runner.ts'
import { Database as Sqlite } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { runWeir } from '../../cli/support/run-weir.ts'
import { createManagedStores } from '../../../src/storage/scripts/managed-stores.ts'
import { Writer } from '../../../src/storage/sqlite/writer.ts'
import { pricing, startBillingScenario } from '../../support/billing-scenario.ts'
import { expectConsistentLedger } from '../../unit/storage/support/ledger-fixture.ts'
import { temporaryFolder, testDatabase } from '../../unit/storage/support/folder.ts'
import { jsonReply } from '../../support/chat-fixtures.ts'
import { startApp } from '../../support/app.ts'
import { chatRequest, startScenario } from '../../support/scenario.ts'
import { sqliteFile } from '../../support/database-connection.ts'
import { testActor } from '../../support/actor.ts'

function backup(folder: string, ...args: string[]) {
  return runWeir(['backup', ...args], folder, { WEIR_DATA: folder })
}

test('a backup during paid requests is a consistent snapshot, and a gateway can serve from it', async () => {
  await using paid = await startBillingScenario(jsonReply())
  const file = sqliteFile(paid.database)
  const folder = dirname(file)
  const { key } = await addKey(file)
  const ask = async () => (await paid.app.chat(chatRequest)).status
  for (let count = 0; count < 5; count++) expect(await ask()).toBe(200)
  const load = new AbortController()
  const clients = Array.from({ length: 4 }, async () => {
    let served = 0
    for (; !load.signal.aborted; served++) expect(await ask()).toBe(200)
    return served
  })
  const copy = join(folder, 'copies', 'monday.db')
  mkdirSync(dirname(copy))
  const { code, out, err } = await backup(folder, copy, '--json')
  load.abort()
  const served = (await Promise.all(clients)).reduce((sum, count) => sum + count, 5)
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(JSON.parse(out)).toEqual({ file: copy, bytes: statSync(copy).size })
  if (process.platform !== 'win32') expect(statSync(copy).mode & 0o777).toBe(0o600)
  expect(readdirSync(dirname(copy))).toEqual(['monday.db'])

  const restored = join(temporaryFolder(), 'weir.db')
  copyFileSync(copy, restored)
  // Those that were under way are settled by the start, as after a kill.
  const rows = countIn(restored, 'usage') + countIn(restored, 'reservations')
  expect(rows).toBeGreaterThanOrEqual(5)
  expect(rows).toBeLessThanOrEqual(served)
  await using again = await startScenario(jsonReply(), { database: restored, model: { pricing } })
  const headers = { authorization: `Bearer ${key}` }
  expect((await again.app.chat(chatRequest, { headers })).status).toBe(200)
  expect((await again.app.chat(chatRequest)).status).toBe(200)
  expect(countIn(restored, 'usage')).toBe(rows + 2)
  using sqlite = new Sqlite(restored, { readonly: true })
  expectConsistentLedger(sqlite)
  expect(sqlite.query('PRAGMA integrity_check').values()).toEqual([['ok']])
})

async function addKey(file: string) {
  const database = testDatabase(file)
  const created = await createManagedStores(
    createScriptRunner(database, new Writer(database)),
    testActor,
  ).keys.create({
    organization: 'default',
    name: 'laptop',
    expiresAt: null,
  })
  return { key: created.key.reveal() }
}

function countIn(file: string, table: string): number {
  using sqlite = new Sqlite(file, { readonly: true })
  return Number(sqlite.query(`SELECT count(*) FROM ${table}`).values()[0]?.[0])
}

test('a stopped gateway can be backed up too, and an existing file is replaced only with the flag for it', async () => {
  const folder = temporaryFolder()
  const app = await startApp({ database: join(folder, 'weir.db') })
  await app.stop()
  const copy = join(folder, 'copy.db')
  expect((await backup(folder, 'copy.db')).out).toMatch(
    /^Backed up the database to .*copy\.db \(\d+\.\d MB\)\.\n$/,
  )
  const refused = await backup(folder, 'copy.db')
  expect(refused).toEqual({
    code: 1,
    out: '',
    err: `${copy} already exists. Choose another file, or replace this one with --overwrite.\n`,
  })
  writeFileSync(copy, 'something else')
  expect((await backup(folder, 'copy.db', '--overwrite')).code).toBe(0)
  using sqlite = new Sqlite(copy, { readonly: true })
  expect(sqlite.query('SELECT public_id FROM api_keys').values()).toEqual([['Test00000000']])
  expect(readdirSync(folder).filter((name) => name.endsWith('.part'))).toEqual([])
})

test.skipIf(process.platform === 'win32')('a backup replaces nothing that is not a file', async () => {
  const folder = temporaryFolder()
  const app = await startApp({ database: join(folder, 'weir.db') })
  await app.stop()
  const pipe = join(folder, 'pipe')
  expect(Bun.spawnSync(['mkfifo', pipe]).exitCode).toBe(0)
  const { code, out, err } = await backup(folder, 'pipe', '--overwrite')
  expect({ code, out, err }).toEqual({
    code: 1,
    out: '',
    err: `${pipe} is not a file. Choose another one.\n`,
  })
  expect(statSync(pipe).isFIFO()).toBe(true)
})

test.skipIf(process.platform === 'win32')('a backup never replaces a file of the database', async () => {
  const folder = temporaryFolder()
  await using app = await startApp({ database: join(folder, 'weir.db') })
  const elsewhere = temporaryFolder()
  symlinkSync(folder, join(elsewhere, 'data'))
  symlinkSync(join(folder, 'weir.db'), join(elsewhere, 'link.db'))
  linkSync(join(folder, 'weir.db'), join(elsewhere, 'hard.db'))
  const files = () => readdirSync(folder).filter((name) => !name.startsWith('.'))
  const before = files()
  const database = [
    join(folder, 'weir.db'),
    'weir.db',
    ...['data/weir.db', 'link.db', 'hard.db'].map((path) => join(elsewhere, path)),
  ]
  // There is no journal now: a file of that name would be read as one.
  const beside = [
    'weir.db-wal',
    'weir.db-shm',
    'weir.db-journal',
    'weir.lock',
    'weir.lock-journal',
    join(elsewhere, 'data/weir.db-journal'),
  ]
  const inode = statSync(join(folder, 'weir.db')).ino
  for (const flags of [[], ['--overwrite']]) {
    for (const target of [...database, ...beside]) {
      const what = database.includes(target)
        ? 'is the database itself. Choose another file.'
        : 'is a file of the database. Choose another one.'
      const { code, out, err } = await backup(folder, target, ...flags)
      expect({ code, out, err }).toEqual({ code: 1, out: '', err: `${resolve(folder, target)} ${what}\n` })
    }
  }
  expect(files()).toEqual(before)
  expect(statSync(join(folder, 'weir.db')).ino).toBe(inode)
  expect((await app.chat({ ...chatRequest, model: 'weir/echo' })).status).toBe(200)
})

test.skipIf(process.platform === 'win32')(
  'a backup never replaces the files of a database behind a symbolic link',
  async () => {
    const [folder, disk] = [temporaryFolder(), temporaryFolder()]
    const app = await startApp({ database: join(disk, 'real.db') })
    await app.stop()
    symlinkSync(join(disk, 'real.db'), join(folder, 'weir.db'))
    const results = ['real.db', 'real.db-wal'].map((name) => backup(folder, join(disk, name), '--overwrite'))
    const messages = (await Promise.all(results)).map(({ err }) => err)
    expect(messages).toEqual([
      `${join(disk, 'real.db')} is the database itself. Choose another file.\n`,
      `${join(disk, 'real.db-wal')} is a file of the database. Choose another one.\n`,
    ])
    expect((await backup(folder, join(disk, 'copy.db'))).code).toBe(0)
  },
)

test('a backup that cannot be read or written is one error message and leaves nothing behind', async () => {
  const folder = temporaryFolder()
  const nothing = await backup(folder, 'copy.db')
  expect(nothing).toEqual({
    code: 1,
    out: '',
    err: `There is no database at ${join(folder, 'weir.db')}. Choose the data folder with --data.\n`,
  })
  writeFileSync(
    join(folder, 'weir.db'),
    'this is no database at all, though it is long enough for one'.repeat(20),
  )
  const broken = await backup(folder, 'copy.db')
  expect(broken).toEqual({
    code: 1,
    out: '',
    err: 'The backup failed: the database is damaged, or not a database of SQLite.\n',
  })
  const nowhere = await backup(folder, 'missing/copy.db')
  expect([nowhere.code, nowhere.err.split('\n').length]).toEqual([1, 2])
  expect(nowhere.err).toBe(
    `The backup failed: there is no folder ${join(folder, 'missing')}. Create it, or choose another file.\n`,
  )
  expect((await backup(folder)).code).toBe(2)
  expect(existsSync(join(folder, 'copy.db'))).toBe(false)
  expect(readdirSync(folder).filter((name) => !name.startsWith('.'))).toEqual(['weir.db'])
})

test('a database that a newer version has written is not backed up, and stays unchanged', async () => {
  const folder = temporaryFolder()
  const app = await startApp({ database: join(folder, 'weir.db') })
  await app.stop()
  {
    using sqlite = new Sqlite(join(folder, 'weir.db'))
    sqlite.run('PRAGMA user_version = 999')
  }
  writeFileSync(join(folder, 'monday.db'), 'the backup of another day')
  const { code, out, err } = await backup(folder, 'monday.db', '--overwrite')
  expect([code, out]).toEqual([1, ''])
  expect(err).toMatch(/^The database [^\n]* was written by a newer version of weir \(schema 999, [^\n]*\n$/)
  expect(readFileSync(join(folder, 'monday.db'), 'utf8')).toBe('the backup of another day')
  expect(readdirSync(folder).filter((name) => name.endsWith('.part'))).toEqual([])
})
