import { expect, test } from 'bun:test'
import { printAdminKey } from '../../../src/domain/accounting/api-key.ts'
import { type App, firstKey, startApp } from '../../support/app.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { readPieces } from '../../support/body-reader.ts'
import { connectDatabase, newDatabase } from '../../support/database-connection.ts'

/** A gateway with a connection to its database, without WEIR_ADMIN_KEY unless the environment has it. */
async function startWithKeys(environment: Readonly<Record<string, string>> = {}) {
  const created = await newDatabase()
  const database = await connectDatabase(created.location)
  const app = await startApp({ database: created.location, environment })
  return {
    app,
    adminKeys: database.adminKeys,
    rows: database.rows,
    async [Symbol.asyncDispose]() {
      await app.stop()
      await database[Symbol.asyncDispose]()
      await created.delete()
    },
  }
}

async function replyOf(app: App, path: string, key: string | null) {
  const reply = await app.request(path, { headers: { authorization: key && `Bearer ${key}` } })
  const body = (await reply.json()) as { error?: { code: string; message: string } }
  const line = reply.ok ? {} : await app.requestLines.of(reply)
  return { status: reply.status, code: body.error?.code, message: body.error?.message, reason: line.reason }
}

const createHint = 'To create an admin key, run on the machine of the gateway: weir admin-keys create'

test('several admin keys open the admin API beside WEIR_ADMIN_KEY, each until it is revoked', async () => {
  await using gateway = await startWithKeys({ WEIR_ADMIN_KEY: 'of the environment' })
  const { app, adminKeys } = gateway
  const [ada, bob] = [
    await adminKeys.create({ name: 'ada', expiresAt: null }),
    await adminKeys.create({ name: 'bob', expiresAt: Date.now() + 3_600_000 }),
  ]
  const statuses = () =>
    Promise.all(
      ['of the environment', ada.key.reveal(), bob.key.reveal()].map(
        async (key) => (await replyOf(app, '/admin/organizations', key)).status,
      ),
    )
  expect(await statuses()).toEqual([200, 200, 200])
  await adminKeys.revoke(ada.record.id)
  await waitUntil(async () => (await statuses())[1] === 401, 'the revoked key is rejected')
  expect(await statuses()).toEqual([200, 401, 200])
})

test('an admin key opens the usage of all organizations and the metrics, and no model', async () => {
  await using gateway = await startWithKeys()
  const key = (await gateway.adminKeys.create({ name: 'ada', expiresAt: null })).key.reveal()
  const usage = `/v1/organization/usage/completions?start_time=${Math.floor(Date.now() / 1000) - 60}`
  expect(await replyOf(gateway.app, usage, key)).toMatchObject({ status: 200 })
  const headers = { 'x-forwarded-for': '10.0.0.7', authorization: `Bearer ${key}` }
  expect((await gateway.app.request('/metrics', { headers })).status).toBe(200)
  for (const path of ['/v1/models', '/v1/organization', '/v1/chat/completions?limit=1'])
    expect(await replyOf(gateway.app, path, key)).toEqual({
      status: 401,
      code: 'invalid_api_key',
      message:
        'This endpoint requires an API key, and the key that was sent is an admin key. To create an API key, run: weir keys create',
      reason: 'admin_key',
    })
})

test('WEIR_ADMIN_KEY opens no model either, and the 401 says that it is an admin key', async () => {
  await using gateway = await startWithKeys({ WEIR_ADMIN_KEY: 'of the environment' })
  for (const path of ['/v1/models', '/v1/organization', '/v1/chat/completions?limit=1'])
    expect(await replyOf(gateway.app, path, 'of the environment')).toEqual({
      status: 401,
      code: 'invalid_api_key',
      message:
        'This endpoint requires an API key, and the key that was sent is an admin key. To create an API key, run: weir keys create',
      reason: 'admin_key',
    })
  expect(await replyOf(gateway.app, '/v1/models', 'of the Environment')).toMatchObject({
    status: 401,
    message: 'Invalid API key. It may be mistyped, expired or revoked.',
    reason: 'malformed_key',
  })
})

test('an admin key that is not valid is a 401 that does not say why, and says how to create one', async () => {
  await using gateway = await startWithKeys()
  const { app, adminKeys } = gateway
  const { key } = await adminKeys.create({ name: 'ada', expiresAt: Date.now() - 1 })
  const revoked = await adminKeys.create({ name: 'bob', expiresAt: null })
  await adminKeys.revoke(revoked.record.id)
  const wrong = [
    [key.reveal(), 'expired_key'],
    [revoked.key.reveal(), 'revoked_key'],
    [printAdminKey({ publicId: revoked.record.id, secret: 'x'.repeat(32) }), 'wrong_secret'],
    [printAdminKey({ publicId: 'unknown00000', secret: 'x'.repeat(32) }), 'unknown_key'],
    ['sk-weir-admin-damaged', 'malformed_key'],
  ] as const
  const usage = '/v1/organization/costs?start_time=1'
  for (const [sent, reason] of wrong) {
    for (const path of ['/admin/keys', usage])
      expect(await replyOf(app, path, sent)).toEqual({
        status: 401,
        code: 'invalid_admin_key',
        message: `Invalid admin key. It may be mistyped, expired or revoked. ${createHint}`,
        reason,
      })
  }
  expect(app.lines.join() + app.requestLines.all.join()).not.toContain(key.reveal().slice(-32))
})

test('the admin API says what was sent instead of an admin key, and how to create one', async () => {
  await using gateway = await startWithKeys()
  const sent = [
    [null, 'no_key', ' as the bearer token.'],
    ['', 'no_key', ' as the bearer token.'],
    [firstKey, 'api_key', ', and the key that was sent is an API key.'],
    [
      'hunter2',
      'wrong_admin_key',
      ', and what was sent is neither one nor the value of WEIR_ADMIN_KEY of the gateway.',
    ],
  ] as const
  for (const [key, reason, problem] of sent)
    expect(await replyOf(gateway.app, '/admin/keys', key)).toEqual({
      status: 401,
      code: 'admin_key_required',
      message: `This endpoint requires an admin key${problem} ${createHint}`,
      reason,
    })
})

test.each([
  ['is revoked', 'revoked_at = 1'],
  ['loses the permission', "permissions = '[]'"],
])('the stream of live requests ends when its admin key %s', async (_, change) => {
  await using gateway = await startWithKeys()
  const { record, key } = await gateway.adminKeys.create({ name: 'ada', expiresAt: null })
  const headers = { authorization: `Bearer ${key.reveal()}`, accept: 'text/event-stream' }
  const reply = await gateway.app.request('/admin/requests', { headers })
  expect(reply.status).toBe(200)
  const pieces = readPieces(reply)
  await gateway.rows(`update admin_keys set ${change} where public_id = '${record.id}'`)
  while ((await pieces.next()) !== undefined);
})

test('an admin key without the permission for a change is a 403 that says how to create one that has it', async () => {
  await using gateway = await startWithKeys()
  const input = { name: 'ada', expiresAt: null, permissions: ['read'] } as const
  const { record, key } = await gateway.adminKeys.create(input)
  const headers = { authorization: `Bearer ${key.reveal()}` }
  const reply = await gateway.app.request('/admin/keys', { method: 'POST', headers, body: {} })
  expect([reply.status, await reply.json()]).toEqual([
    403,
    {
      error: {
        message: `This endpoint requires an admin key with the permission “write”, which this one does not have. ${createHint} --permissions read,write`,
        type: 'permission_error',
        code: 'admin_permission_required',
        param: null,
      },
    },
  ])
  expect(await gateway.app.requestLines.of(reply)).toMatchObject({ key: record.id })
  expect((await replyOf(gateway.app, '/admin/keys', key.reveal())).status).toBe(200)
})

test('the first start of a database makes an admin key, unless the environment chooses the keys', async () => {
  const start = async (environment: Readonly<Record<string, string>>) => {
    await using app = await startApp({ environment })
    const { apiKey, adminKey, hasAdminKey } = app.runtime.firstKeys
    if (adminKey !== undefined)
      expect(await replyOf(app, '/admin/keys', adminKey.key.reveal())).toMatchObject({ status: 200 })
    return [apiKey !== undefined, adminKey !== undefined, hasAdminKey]
  }
  expect(await start({ WEIR_BOOTSTRAP_KEY: '' })).toEqual([true, true, true])
  expect(await start({ WEIR_BOOTSTRAP_KEY: '', WEIR_ADMIN_KEY: 'chosen' })).toEqual([true, false, true])
  expect(await start({ WEIR_BOOTSTRAP_KEY: firstKey })).toEqual([false, false, false])
})
