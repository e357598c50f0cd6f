import { isReserved } from '../../support/is-reserved.ts'
import { Database as Sqlite } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { silentLog } from '../../../src/lib/log.ts'
import { createLedger } from '../../../src/storage/sqlite/ledger.ts'
import { migrate, migrations } from '../../../src/storage/sqlite/connection/migrate.ts'
import { createOrganizations } from '../../../src/storage/scripts/organization-changes.ts'
import { createScriptRunner } from '../../../src/storage/sqlite/script-runner.ts'
import { Writer } from '../../../src/storage/sqlite/writer.ts'
import { temporaryFolder, testDatabase } from './support/folder.ts'
import { expectConsistentLedger, requestOf } from './support/ledger-fixture.ts'
import { testChange } from '../../support/actor.ts'

/** A database from before there was a ledger, with rows of all that it had. */
function olderFile(): string {
  const file = join(temporaryFolder(), 'weir.db')
  const sqlite = new Sqlite(file)
  migrate(sqlite, migrations.slice(0, 1), silentLog)
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

test('a database from before the ledger keeps its rows, and begins with a consistent ledger', async () => {
  const { sqlite } = testDatabase(olderFile())
  expectConsistentLedger(sqlite)
  expect(sqlite.query('SELECT kind, amount FROM ledger ORDER BY id').values()).toEqual([
    ['credit', 9007199254740991],
  ])
  expect(sqlite.prepare('SELECT id FROM ledger').values()).toEqual([
    [expect.stringMatching(/^led_011f71fb04cb[0-9a-f]{20}$/)],
  ])
  expect(sqlite.prepare('SELECT * FROM organizations ORDER BY id').all()).toEqual([
    expect.objectContaining({ id: 'org_1', name: 'acme', billing: 'unmetered', balance: 0, reserved: 0 }),
    {
      id: 'org_2',
      name: 'globex',
      billing: 'prepaid',
      balance: 9007199254740991,
      budget: null,
      budget_period: 'none',
      budget_time_zone: 'UTC',
      requests_per_minute: 5,
      tokens_per_minute: null,
      concurrent_requests: 7,
      models: null,
      enabled: 1,
      created_at: 1234567890123,
      deletion: null,
      reserved: 0,
    },
  ])
  expect(sqlite.prepare('SELECT public_id FROM api_keys').values()).toEqual([['abcdefghijkl']])
  expect(sqlite.prepare('SELECT call_id FROM provider_state').values()).toEqual([['call_1']])
  expect(sqlite.prepare('PRAGMA foreign_key_check').all()).toEqual([])
})

test('the organizations of a migrated database are charged and deleted like new ones', async () => {
  const database = testDatabase(olderFile())
  const writer = new Writer(database)
  const ledger = createLedger(database, writer)
  const request = requestOf('org_2')
  expect(await isReserved(ledger, { request, amount: 10n, promptCost: 1n, promptTokens: 1 })).toBe(true)
  expect((await ledger.settle(request, { status: 200, cost: 4n })).charged).toBe(4n)
  expectConsistentLedger(database.sqlite)
  await createOrganizations(createScriptRunner(database, writer), testChange).delete('globex')
  expect(database.sqlite.query('SELECT kind, amount FROM ledger ORDER BY id').values()).toEqual([])
})

/** A database whose ledger has write-offs: of a part of a cost, of a whole one, and of none that is left. */
function fileWithWriteOffs(): string {
  const file = join(temporaryFolder(), 'weir.db')
  const sqlite = new Sqlite(file)
  migrate(sqlite, migrations.slice(0, 4), silentLog)
  for (const [id, balance, reserved] of [
    ['org_1', 0, 0],
    ['org_2', 70, 20],
  ] as const)
    sqlite.run(
      `INSERT INTO organizations (id, name, billing, balance, reserved, created_at) VALUES ('${id}', '${id}', 'prepaid', ${balance}, ${reserved}, 1)`,
    )
  const entries: readonly (readonly [string, string, number, string | null])[] = [
    ['org_1', 'credit', 100, null],
    ['org_1', 'charge', -130, 'req_1'],
    ['org_1', 'write_off', 30, 'req_1'],
    ['org_1', 'charge', -5, 'req_2'],
    ['org_1', 'write_off', 5, 'req_2'],
    ['org_2', 'credit', 100, null],
    ['org_2', 'charge', -40, 'req_3'],
    ['org_2', 'write_off', 10, 'req_gone'],
  ]
  for (const [index, [organization, kind, amount, request]] of entries.entries())
    sqlite.run("INSERT INTO ledger VALUES (?, ?, 1, ?, ?, ?, 'note')", [
      `led_${index}`,
      organization,
      kind,
      amount,
      request,
    ])
  sqlite.run("INSERT INTO reservations VALUES ('req_4', 'org_2', 20, 2, 7, '{}')")
  sqlite.close()
  return file
}

test('the write-offs of an older database are merged into their charges, and its ledger stays consistent', () => {
  const { sqlite } = testDatabase(fileWithWriteOffs())
  expectConsistentLedger(sqlite)
  expect(
    sqlite.prepare('SELECT id, kind, amount, request_id, note FROM ledger ORDER BY id').values(),
  ).toEqual([
    ['led_0', 'credit', 100, null, 'note'],
    ['led_1', 'charge', -100, 'req_1', 'note'],
    ['led_5', 'credit', 100, null, 'note'],
    ['led_6', 'charge', -40, 'req_3', 'note'],
    ['led_7', 'credit', 10, 'req_gone', 'written off'],
  ])
  expect(sqlite.prepare('SELECT balance, reserved FROM organizations ORDER BY id').values()).toEqual([
    [0, 0],
    [70, 20],
  ])
  expect(sqlite.prepare('PRAGMA foreign_key_check').all()).toEqual([])
})

test('the organizations of a migrated database can go below zero, and their rows are deleted with them', async () => {
  const database = testDatabase(fileWithWriteOffs())
  const writer = new Writer(database)
  const ledger = createLedger(database, writer)
  const organizations = createOrganizations(createScriptRunner(database, writer), testChange)
  expect((await ledger.settle(requestOf('org_2', 'req_4'), { status: 200, cost: 95n })).charged).toBe(95n)
  expect((await organizations.list()).map(({ balance }) => balance)).toEqual([0n, -25n])
  const free = { request: requestOf('org_2'), amount: 0n, promptCost: 0n, promptTokens: 1 }
  expect(await isReserved(ledger, free)).toBe(false)
  expectConsistentLedger(database.sqlite)
  await organizations.delete('org_2')
  expect(
    database.sqlite.prepare("SELECT count(*) FROM ledger WHERE organization_id = 'org_2'").values(),
  ).toEqual([[0]])
})

test.each([
  "UPDATE organizations SET reserved = -1 WHERE id = 'org_1'",
  "UPDATE organizations SET balance = -9007199254740992 WHERE id = 'org_1'",
  "INSERT INTO ledger VALUES ('led_1', 'org_1', 1, 'charge', 1, NULL, NULL)",
  "INSERT INTO ledger VALUES ('led_1', 'org_1', 1, 'write_off', 1, NULL, NULL)",
  "INSERT INTO ledger VALUES ('led_1', 'org_1', 1, 'credit', 0, NULL, NULL)",
  "INSERT INTO ledger VALUES ('led_1', 'org_1', 1, 'gift', 1, NULL, NULL)",
])('the database itself rejects %s', (statement) => {
  const { sqlite } = testDatabase(olderFile())
  expect(() => sqlite.run(statement)).toThrow('CHECK constraint failed')
})
