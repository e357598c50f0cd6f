import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { command as adminKeys } from '../../src/cli/commands/admin-keys.ts'
import { command as keys } from '../../src/cli/commands/keys.ts'
import { databaseName } from '../../src/storage/database-location.ts'
import { bootstrap } from '../../src/storage/scripts/known-keys.ts'
import { openDatabase } from '../../src/storage/sqlite/connection/database.ts'
import { waitUntil } from '../support/billing-database.ts'
import { startBillingScenario } from '../support/billing-scenario.ts'
import { jsonReply } from '../support/chat-fixtures.ts'
import { databaseEnvironment } from '../support/database-connection.ts'
import { storageFixture } from './support/storage-fixture.ts'
import { testActor } from '../support/actor.ts'

const keyForm = /^sk-weir-admin-([0-9A-Za-z]{12})-[0-9A-Za-z]{32}$/

/** A data folder as an upgrade leaves it: without an admin key. */
function startedScenario() {
  const scenario = storageFixture()
  const database = openDatabase(join(scenario.data, databaseName))
  database.run(bootstrap({ actor: testActor, admin: false }, Date.now()))
  database.close()
  return scenario
}

test('weir admin-keys create prints the new key alone on standard output, and it is never shown again', async () => {
  const { say: run } = startedScenario()
  expect((await run(adminKeys, 'list')).out).toContain('To create one, run: weir admin-keys create')
  const { code, out, err } = await run(adminKeys, 'create', '--name', 'ada')
  const [, id = ''] = keyForm.exec(out) ?? []
  expect({ code, id }).toEqual({ code: 0, id: expect.stringMatching(/^\w{12}$/) })
  expect(err).toBe(
    'The admin key is shown only once. It works until it is revoked. Permissions: read, write.',
  )
  const listing = await run(adminKeys, 'list')
  expect(listing.out).toMatch(new RegExp(`^ada +${id} +read,write +active +20.* +never$`, 'm'))
  expect((await run(adminKeys, 'list', '--json')).out + listing.out).not.toContain(out.slice(-32))
})

test('weir admin-keys create --json prints all properties with the key', async () => {
  const { say: run } = startedScenario()
  const before = Date.now()
  const created = JSON.parse((await run(adminKeys, 'create', '--expires', '90d', '--json')).out)
  const { key, ...listed } = created
  expect(created).toEqual({
    id: keyForm.exec(key)?.[1],
    key,
    name: 'unnamed',
    last4: key.slice(-4),
    permissions: ['read', 'write'],
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    expires_at: expect.any(String),
    revoked_at: null,
  })
  const days = (Date.parse(created.expires_at) - before) / 86_400_000
  expect(days).toBeWithin(90, 91)
  expect(JSON.parse((await run(adminKeys, 'list', '--json')).out)).toEqual([listed])
})

test('weir admin-keys create --permissions always includes read, and names what is not a permission', async () => {
  const { say: run } = startedScenario()
  const created = async (list: string) => {
    const { out } = await run(adminKeys, 'create', '--permissions', list, '--json')
    return JSON.parse(out).permissions
  }
  expect(await created('content,write')).toEqual(['read', 'write', 'content'])
  expect(await created('read')).toEqual(['read'])
  expect((await run(adminKeys, 'list')).out).toMatch(/^unnamed +\w{12} +read +active /m)
  for (const list of ['admin', 'read,,write', 'none'])
    expect(await run(adminKeys, 'create', '--permissions', list)).toMatchObject({
      code: 2,
      err: expect.stringContaining('--permissions must be a list of read, write, content, not “'),
    })
})

test('weir admin-keys revoke accepts an id or a whole key, and prints neither its secret nor that of another kind', async () => {
  const { say: run } = startedScenario()
  const created = [await run(adminKeys, 'create'), await run(adminKeys, 'create', '--name', 'ada')] as const
  const [first, second] = created.map(({ out }) => out) as [string, string]
  const id = keyForm.exec(first)?.[1] ?? ''
  expect((await run(adminKeys, 'revoke', id)).out).toBe(`Revoked the admin key ${id} (unnamed).`)
  const whole = await run(adminKeys, 'revoke', second, '--json')
  expect(JSON.parse(whole.out)).toMatchObject({ name: 'ada', revoked_at: expect.any(String) })
  expect((await run(adminKeys, 'list')).out.match(/ revoked /g)).toHaveLength(2)
  const apiKey = (await run(keys, 'create')).out
  const wrong = [
    [await run(adminKeys, 'revoke', apiKey), 'not an API key. For API keys, use weir keys.'],
    [await run(keys, 'revoke', first), 'not an admin key. For admin keys, use weir admin-keys.'],
    [await run(adminKeys, 'revoke', `${first}!`), 'ID must be the ID of an admin key'],
    [await run(adminKeys, 'create', '--expires', 'soon'), '--expires must be a duration'],
  ] as const
  for (const [{ code, out, err }, message] of wrong) {
    expect({ code, out, err }).toEqual({ code: 2, out: '', err: expect.stringContaining(message) })
    for (const key of [apiKey, first]) expect(err).not.toContain(key.slice(-32))
  }
  expect(await run(adminKeys, 'revoke', 'unknown00000')).toMatchObject({
    code: 1,
    err: expect.stringContaining('There is no admin key with the ID unknown00000.'),
  })
})

test('admin keys that the command line creates and revokes take effect in a running server', async () => {
  await using paid = await startBillingScenario(jsonReply())
  const { say: run } = storageFixture(databaseEnvironment(paid.database))
  const old = (await run(adminKeys, 'create', '--name', 'old')).out
  const statusOf = async (key: string) =>
    (await paid.app.request('/admin/keys', { headers: { authorization: `Bearer ${key}` } })).status
  expect(await statusOf(old)).toBe(200)
  const replacement = (await run(adminKeys, 'create', '--name', 'new')).out
  expect(await statusOf(replacement)).toBe(200)
  expect((await run(adminKeys, 'revoke', old)).code).toBe(0)
  await waitUntil(async () => (await statusOf(old)) === 401, 'the old key is rejected')
  expect(await statusOf(replacement)).toBe(200)
})
