import { Database as Sqlite } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { runWeir } from '../../cli/support/run-weir.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { hashSecret } from '../../../src/domain/accounting/api-key.ts'
import { migrate, migrations } from '../../../src/storage/sqlite/connection/migrate.ts'
import { temporaryFolder } from '../../unit/storage/support/folder.ts'
import { expectConsistentLedger } from '../../unit/storage/support/ledger-fixture.ts'
import { jsonReply } from '../../support/chat-fixtures.ts'
import { chatRequest, startScenario } from '../../support/scenario.ts'

const secret = 'a'.repeat(32)
const paying = `sk-weir-Paying000000-${secret}`
const plain = `sk-weir-Plain0000000-${secret}`

/** What a gateway of the first schema kept: two organizations, their keys, a signature. */
function fillFirst(sqlite: Sqlite): void {
  const organization = sqlite.prepare(
    'INSERT INTO organizations (id, name, billing, balance, requests_per_minute, created_at) VALUES (?, ?, ?, ?, ?, 1)',
  )
  organization.run('org_plain', 'default', 'unmetered', 0, 77)
  organization.run('org_paying', 'acme', 'prepaid', 1_000_000_000, null)
  const key = sqlite.prepare(
    "INSERT INTO api_keys (public_id, organization_id, name, secret_hash, last4, created_at) VALUES (?, ?, 'old', ?, 'aaaa', 1)",
  )
  key.run('Plain0000000', 'org_plain', hashSecret(secret))
  key.run('Paying000000', 'org_paying', hashSecret(secret))
  sqlite.run("INSERT INTO provider_state VALUES ('org_plain', 'call_1', 'gemini', '{}', 9999999999999)")
}

/** What one of the second schema kept beside that: usage, a ledger, and a call that was open when it was killed. */
function fillSecond(sqlite: Sqlite): void {
  sqlite.run(
    "INSERT INTO ledger VALUES ('led_1', 'org_paying', 1, 'credit', 1000000500, NULL, NULL), " +
      "('led_2', 'org_paying', 2, 'charge', -500, 'req_1', NULL)",
  )
  const usage = {
    id: 'req_1',
    organization_id: 'org_paying',
    key_id: 'Paying000000',
    created_at: 2,
    api: 'chat',
    stream: 0,
    prompt_tokens: 5,
    completion_tokens: 0,
    cached_tokens: 0,
    cache_write_tokens: 0,
    reasoning_tokens: 0,
    estimated: 0,
    cost: 500,
    status: 200,
  }
  const names = Object.keys(usage)
  sqlite.run(`INSERT INTO usage (${names}) VALUES (${names.map(() => '?')})`, Object.values(usage))
  const request = {
    id: 'req_2',
    organization: 'org_paying',
    key: 'Paying000000',
    createdAt: 3,
    api: 'chat',
    stream: true,
  }
  sqlite.run(
    'INSERT INTO reservations (request_id, organization_id, amount, prompt_cost, prompt_tokens, request) ' +
      "VALUES ('req_2', 'org_paying', 3000, 700, 8, ?)",
    [JSON.stringify(request)],
  )
  sqlite.run("UPDATE organizations SET reserved = 3000 WHERE id = 'org_paying'")
}

/** A database as the binary of that schema left it. */
function databaseOf(schema: number): string {
  const file = join(temporaryFolder(), 'weir.db')
  using sqlite = new Sqlite(file)
  migrate(sqlite, migrations.slice(0, schema), silentLog)
  sqlite.run('PRAGMA journal_mode = WAL')
  fillFirst(sqlite)
  if (schema >= 2) fillSecond(sqlite)
  return file
}

function valuesIn(file: string, query: string): unknown[][] {
  using sqlite = new Sqlite(file, { readonly: true })
  return sqlite.query(query).values()
}

describe.each([1, 2, 3, 4])('a database of schema %d', (schema) => {
  test('is served by this version: its keys, limits and balances are preserved, and a copy is put beside it', async () => {
    const file = databaseOf(schema)
    await using gateway = await startScenario(jsonReply(), {
      database: file,
      model: { pricing: { input: 1, output: 10 } },
    })
    const { app } = gateway
    const ask = (key: string) =>
      app.chat({ ...chatRequest, max_tokens: 10 }, { headers: { authorization: `Bearer ${key}` } })
    const free = await ask(plain)
    expect([free.status, free.headers.get('x-ratelimit-limit-requests')]).toEqual([200, '77'])
    expect((await ask(paying)).headers.get('x-weir-cost')).toBe('0.000062000')
    expect((await app.request('/v1/models')).status).toBe(401)
    expect(app.runtime.firstKeys.apiKey).toBeUndefined()

    expect(valuesIn(file, 'SELECT call_id FROM provider_state')).toEqual([['call_1']])
    const spent = schema === 1 ? 62_000 : 62_700
    expect(valuesIn(file, "SELECT balance, reserved FROM organizations WHERE name = 'acme'")).toEqual([
      [1_000_000_000 - spent, 0],
    ])
    const usage = valuesIn(
      file,
      "SELECT status, cost FROM usage WHERE key_id = 'Paying000000' ORDER BY created_at",
    )
    const before =
      schema === 1
        ? []
        : [
            [200, 500],
            [0, 700],
          ]
    expect(usage).toEqual([...before, [200, 62_000]])
    using sqlite = new Sqlite(file, { readonly: true })
    expectConsistentLedger(sqlite)

    const copies = readdirSync(dirname(file)).filter((name) => name.startsWith(`weir.db.schema-${schema}-`))
    expect(copies.length).toBe(1)
    const copy = join(dirname(file), copies[0]!)
    expect(valuesIn(copy, 'PRAGMA user_version')).toEqual([[schema]])
    expect(valuesIn(copy, 'SELECT count(*) FROM api_keys')).toEqual([[2]])
  })

  test('is migrated once by a command that writes, and left unchanged by one that reads', async () => {
    const file = databaseOf(schema)
    const folder = dirname(file)
    const weir = (...args: string[]) => runWeir([...args, '--json'], folder, { WEIR_DATA: folder })
    const read = await weir('orgs', 'list')
    expect([read.code, JSON.parse(read.err).error.message]).toEqual([
      1,
      expect.stringMatching(/was written by an older version of weir .*\. Start weir serve to migrate it\.$/),
    ])
    expect(valuesIn(file, 'PRAGMA user_version')).toEqual([[schema]])
    const first = await weir('orgs', 'set', 'acme', '--requests-per-minute', '77')
    expect(first.code).toBe(0)
    expect(first.err).toMatch(/The database was migrated./)
    expect(
      JSON.parse((await weir('orgs', 'list')).out)
        .map(({ name }: { name: string }) => name)
        .toSorted(),
    ).toEqual(['acme', 'default'])
    expect((await weir('keys', 'list')).err).toBe('')
    expect(valuesIn(file, 'PRAGMA user_version')).toEqual([[migrations.length]])
  })
})

test('an older version rejects the database of a newer one, and leaves it unchanged', async () => {
  const file = databaseOf(migrations.length)
  using sqlite = new Sqlite(file)
  sqlite.run(`PRAGMA user_version = ${migrations.length + 1}`)
  const folder = dirname(file)
  const { code, err } = await runWeir(['serve', '--port', '0'], folder, { WEIR_DATA: folder })
  expect(code).toBe(1)
  expect(err).toMatch(/^The database [^\n]* was written by a newer version of weir [^\n]*\n$/)
  expect(valuesIn(file, 'PRAGMA user_version')).toEqual([[migrations.length + 1]])
})
