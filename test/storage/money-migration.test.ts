import { Database as Sqlite } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { createLedger } from '../../src/storage/ledger.ts'
import { migrate } from '../../src/storage/migrate.ts'
import { migrations } from '../../src/storage/migrations.ts'
import { createOrganizations } from '../../src/storage/organizations.ts'
import { createWriter } from '../../src/storage/writer.ts'
import { quietLog, temporaryFolder, testDatabase } from './folder.ts'
import { entriesOf, expectSoundBooks, requestOf } from './money-world.ts'

/** A database from before there was a ledger, with rows of all that it had. */
function olderFile(): string {
  const file = join(temporaryFolder(), 'weir.db')
  const sqlite = new Sqlite(file)
  migrate(sqlite, migrations.slice(0, 1), quietLog)
  sqlite.run("INSERT INTO organizations (id, name, created_at) VALUES ('org_1', 'acme', 1)")
  sqlite.run(
    "INSERT INTO organizations VALUES ('org_2', 'globex', 'prepaid', 9007199254740991, 5, NULL, 7, 1234567890123)",
  )
  sqlite.run(
    "INSERT INTO api_keys VALUES ('abcdefghijkl', 'org_2', 'laptop', x'00', 'last', 1, NULL, NULL, NULL)",
  )
  sqlite.run("INSERT INTO provider_state VALUES ('org_2', 'call_1', 'gemini', '{}', 1)")
  sqlite.close()
  return file
}

test('a database from before the ledger keeps its rows, and begins with books that agree', async () => {
  const { sqlite } = testDatabase(olderFile())
  expectSoundBooks(sqlite)
  expect(entriesOf(sqlite)).toEqual([['credit', 9007199254740991]])
  expect(sqlite.prepare('SELECT id FROM ledger').values()).toEqual([
    [expect.stringMatching(/^led_0{12}[0-9a-f]{20}$/)],
  ])
  expect(sqlite.prepare('SELECT * FROM organizations ORDER BY id').all()).toEqual([
    expect.objectContaining({ id: 'org_1', name: 'acme', billing: 'unmetered', balance: 0, reserved: 0 }),
    {
      id: 'org_2',
      name: 'globex',
      billing: 'prepaid',
      balance: 9007199254740991,
      requests_per_minute: 5,
      tokens_per_minute: null,
      concurrent_requests: 7,
      created_at: 1234567890123,
      deletion: null,
      reserved: 0,
    },
  ])
  expect(sqlite.prepare('SELECT public_id FROM api_keys').values()).toEqual([['abcdefghijkl']])
  expect(sqlite.prepare('SELECT call_id FROM provider_state').values()).toEqual([['call_1']])
  expect(sqlite.prepare('PRAGMA foreign_key_check').all()).toEqual([])
})

test('its organizations spend and are deleted like new ones', async () => {
  const database = testDatabase(olderFile())
  const writer = createWriter(database)
  const ledger = createLedger(database, writer)
  const request = requestOf('org_2')
  expect(await ledger.reserve({ request, amount: 10n, promptCost: 1n, promptTokens: 1 })).toBe(true)
  expect((await ledger.settle(request, { status: 200, cost: 4n })).charged).toBe(4n)
  expectSoundBooks(database.sqlite)
  await createOrganizations(database, writer).delete('globex')
  expect(entriesOf(database.sqlite)).toEqual([])
})

test.each([
  "UPDATE organizations SET balance = 1, reserved = 2 WHERE id = 'org_1'",
  "UPDATE organizations SET reserved = -1 WHERE id = 'org_1'",
  "UPDATE organizations SET balance = -1 WHERE id = 'org_1'",
  "INSERT INTO ledger VALUES ('led_1', 'org_1', 1, 'charge', 1, NULL, NULL)",
  "INSERT INTO ledger VALUES ('led_1', 'org_1', 1, 'write_off', -1, NULL, NULL)",
  "INSERT INTO ledger VALUES ('led_1', 'org_1', 1, 'credit', 0, NULL, NULL)",
  "INSERT INTO ledger VALUES ('led_1', 'org_1', 1, 'gift', 1, NULL, NULL)",
])('the database itself refuses %s', (statement) => {
  const { sqlite } = testDatabase(olderFile())
  expect(() => sqlite.run(statement)).toThrow('CHECK constraint failed')
})
