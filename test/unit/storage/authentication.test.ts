import { noLimits } from '../../../src/domain/accounting/allowance.ts'
import { createScriptRunner } from '../../../src/storage/sqlite/script-runner.ts'
import { minify } from '../../../src/build/compile.ts'
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { CachedKeys } from '../../../src/storage/key-directory.ts'
import { createManagedStores } from '../../../src/storage/scripts/managed-stores.ts'
import { findKnownKey } from '../../../src/storage/scripts/known-keys.ts'
import { createOrganizations } from '../../../src/storage/scripts/organization-changes.ts'
import { authenticatedApp } from './support/authenticated-app.ts'
import { startScript, temporaryFolder, testStorage } from './support/folder.ts'
import { testActor, testChange } from '../../support/actor.ts'

async function gateway() {
  const { database, writer } = testStorage()
  const organizations = createOrganizations(createScriptRunner(database, writer), testChange)
  const acme = await organizations.create('acme')
  const keys = createManagedStores(createScriptRunner(database, writer), testActor).keys
  const made = await keys.create({ organization: 'acme', name: 'k', expiresAt: null })
  const clock = { steady: 0, wall: Date.now() }
  const directory = new CachedKeys(
    (id) => database.run(findKnownKey(id)),
    () => clock.steady,
  )
  const app = authenticatedApp(directory, () => clock.wall)
  const ask = (authorization?: string, path = '/who') =>
    app.handle(new Request(`http://localhost${path}`, { headers: authorization ? { authorization } : {} }))
  const status = async (authorization?: string, path?: string) => (await ask(authorization, path)).status
  return { database, organizations, acme, keys, made, clock, directory, ask, status, key: made.key.reveal() }
}

test('a valid key identifies its organization and that one’s limits', async () => {
  const { ask, key, acme, made } = await gateway()
  const reply = await ask(`Bearer ${key}`)
  expect(reply.status).toBe(200)
  expect(await reply.json()).toEqual({
    organization: {
      id: acme.id,
      name: 'acme',
      billing: 'unmetered',
      limits: noLimits,
    },
    keyId: made.record.id,
    keyName: made.record.name,
    hasCredit: false,
    project: null,
    limits: { budgets: [], rateLimited: [] },
    permissions: [],
    contentLog: false,
  })
})

test('the scheme is accepted in any case, followed by any number of spaces', async () => {
  const { status, key } = await gateway()
  for (const scheme of ['Bearer ', 'bearer ', 'BEARER ', 'bEaReR ', 'Bearer   ', 'bearer   '])
    expect([scheme, await status(scheme + key)]).toEqual([scheme, 200])
})

test('a request without a key in its header is a 401 that explains how to send one', async () => {
  const { ask, key } = await gateway()
  const none = [
    undefined,
    'Bearer',
    'Bearer ',
    `Basic ${key}`,
    `Bearer-${key}`,
    `Bearer${key}`,
    key,
    `Token ${key}`,
  ]
  for (const header of none) {
    const reply = await ask(header)
    expect([header, reply.status]).toEqual([header, 401])
    expect(reply.headers.get('www-authenticate')).toStartWith('Bearer')
    const text = await reply.text()
    expect(text).toContain('No API key provided.')
    expect(text).not.toContain(key)
  }
})

test('a malformed, unknown or mistyped key is a 401', async () => {
  const { ask, key, made } = await gateway()
  const unknown = key.replace(made.record.id, 'aaaaaaaaaaaa')
  const mistyped = `${key.slice(0, -1)}${key.endsWith('a') ? 'b' : 'a'}`
  for (const wrong of ['x', unknown, mistyped, `${key}x`, `${key}, Bearer ${key}`, `${key} ${key}`]) {
    const reply = await ask(`Bearer ${wrong}`)
    expect([wrong, reply.status]).toEqual([wrong, 401])
    const error = { type: 'invalid_request_error', code: 'invalid_api_key', param: null }
    expect(await reply.json()).toMatchObject({ error })
  }
})

test('a key in the query string is not accepted', async () => {
  const { status, key } = await gateway()
  for (const name of ['access_token', 'bearer', 'key', 'api_key', '']) {
    expect([name, await status(undefined, `/who?${name}=${key}`)]).toEqual([name, 401])
    expect([name, await status('Bearer x', `/who?${name}=${key}`)]).toEqual([name, 401])
  }
})

test('unprotected routes require no key', async () => {
  const { ask } = await gateway()
  const reply = await ask(undefined, '/open')
  expect([reply.status, await reply.json()]).toEqual([200, { knowsCaller: false }])
})

test('a key expires at its exact moment, also where it was just cached', async () => {
  const { keys, clock, status } = await gateway()
  const made = await keys.create({ organization: 'acme', name: 'short', expiresAt: clock.wall + 10 })
  expect(await status(`Bearer ${made.key.reveal()}`)).toBe(200)
  clock.wall += 10
  expect(await status(`Bearer ${made.key.reveal()}`)).toBe(401)
})

test('a revocation by another process takes effect within half a second', async () => {
  const { database, made, clock, status, key } = await gateway()
  expect(await status(`Bearer ${key}`)).toBe(200)
  expect(await startScript('unit/storage/support/revoke-once.ts', database.file, made.record.id).exited).toBe(
    0,
  )
  clock.steady += 500
  expect(await status(`Bearer ${key}`)).toBe(401)
})

test('the key of a deleted organization is a 403, and a 401 once it is revoked too', async () => {
  const { organizations, keys, made, ask, clock, status, key } = await gateway()
  await organizations.delete('acme')
  const reply = await ask(`Bearer ${key}`)
  expect(reply.status).toBe(403)
  expect(await reply.json()).toMatchObject({ error: { code: 'no_organization' } })
  await organizations.create('acme')
  clock.steady += 500
  expect(await status(`Bearer ${key}`)).toBe(403)
  await keys.revoke(made.record.id)
  clock.steady += 500
  expect(await status(`Bearer ${key}`)).toBe(401)
})

test('a database that cannot be read is a 503, not a 401', async () => {
  const { database, ask, key } = await gateway()
  database.sqlite.run('ALTER TABLE api_keys RENAME TO lost')
  const reply = await ask(`Bearer ${key}`)
  expect(reply.status).toBe(503)
  expect(reply.headers.get('retry-after')).toBe('1')
  expect(await reply.text()).not.toContain('api_keys')
})

// Elysia reads the source text of its hooks to learn what they need, and minifying changes that text.
test('the minified build authenticates in the same way', async () => {
  const { ask, key, clock, directory } = await gateway()
  const [entry, outdir] = [join(import.meta.dir, 'support/authenticated-app.ts'), temporaryFolder()]
  const { outputs } = await Bun.build({ entrypoints: [entry], outdir, minify, target: 'bun' })
  const minified = await import(outputs[0]?.path ?? '')
  const app: ReturnType<typeof authenticatedApp> = minified.authenticatedApp(directory, () => clock.wall)
  const headers = [
    undefined,
    `Bearer ${key}`,
    `bearer ${key}`,
    `Bearer-${key}`,
    'Bearer x',
    'Basic x',
    'Bearer',
  ]
  for (const authorization of headers) {
    const sent = { headers: new Headers(authorization ? { authorization } : undefined) }
    const request = new Request(`http://localhost/who?access_token=${key}`, sent)
    const reply = await app.handle(request)
    const expected = await ask(authorization)
    expect([reply.status, await reply.text()]).toEqual([expected.status, await expected.text()])
  }
})
