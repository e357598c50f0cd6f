import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type App, firstKey, startApp } from '../../support/app.ts'
import { connectDatabase, type NewDatabase, newDatabase } from '../../support/database-connection.ts'
import { readError } from '../../support/chat-reply.ts'

const request = { model: 'weir/echo', messages: [{ role: 'user', content: 'Hello' }] }

let database: NewDatabase
let app: App
let keys: Awaited<ReturnType<typeof prepareKeys>>
beforeAll(async () => {
  database = await newDatabase()
  app = await startApp({ database: database.location })
  keys = await prepareKeys()
})
afterAll(async () => {
  await app.stop()
  await database.delete()
})

/** Keys that the command line would make while the gateway runs. */
async function prepareKeys() {
  await using connection = await connectDatabase(database.location)
  const { organizations, keys: store } = connection
  const make = (organization: string, expiresAt: number | null = null) =>
    store.create({ organization, name: 'test', expiresAt })
  await organizations.create('leaving')
  const [good, expired, revoked, orphan] = await Promise.all([
    make('default', Date.now() + 60_000),
    make('default', Date.now() - 1),
    make('default'),
    make('leaving'),
  ])
  await store.revoke(revoked.record.id)
  await organizations.delete('leaving')
  return {
    good: good.key.reveal(),
    expired: expired.key.reveal(),
    revoked: revoked.key.reveal(),
    orphan: orphan.key.reveal(),
  }
}

const protectedPaths = ['/v1/models', '/v1/chat/completions'] as const

function ask(
  path: string,
  authorization: string | null,
  headers: Record<string, string> = {},
): Promise<Response> {
  const body = path.includes('completions') ? request : undefined
  return app.request(path, { body, headers: { ...headers, authorization } })
}

async function expectUnauthorized(response: Response, code: string | null): Promise<void> {
  expect(response.headers.get('www-authenticate')).toBe('Bearer realm="weir"')
  expect(await readError(response)).toEqual({
    status: 401,
    message: expect.stringMatching(/API key/),
    type: 'invalid_request_error',
    param: null,
    code,
  })
}

describe.each([...protectedPaths])('%s', (path) => {
  test.each(['Bearer', 'bearer', 'BEARER'])('accepts a key with the scheme “%s”', async (scheme) => {
    expect((await ask(path, `${scheme} ${firstKey}`)).status).toBe(200)
    expect((await ask(path, `${scheme} ${keys.good}`)).status).toBe(200)
  })

  test('rejects a request without a key', async () => {
    for (const header of [
      null,
      '',
      'Bearer',
      'Basic c2stOng=',
      firstKey,
      `Token ${firstKey}`,
      `Bearer-${firstKey}`,
    ])
      await expectUnauthorized(await ask(path, header), null)
  })

  test.each(['access_token', 'key', 'api_key', 'token', 'authorization', ''])(
    'rejects a key in the query string: ?%s=',
    async (name) => {
      await expectUnauthorized(await ask(`${path}?${name}=${firstKey}`, null), null)
    },
  )

  test('rejects a key in another header or in a cookie', async () => {
    const headers = { 'x-api-key': firstKey, 'api-key': firstKey, cookie: `access_token=${firstKey}` }
    await expectUnauthorized(await ask(path, null, headers), null)
  })

  test('rejects a string that is not a key of this gateway', async () => {
    const near = firstKey.slice(0, -1)
    const wrong = [
      'x',
      'sk-proj-abc',
      near,
      `${near}X`,
      `${firstKey}0`,
      firstKey.toUpperCase(),
      `${firstKey} x`,
    ]
    const unknown = firstKey.replace('Test', 'Nope')
    for (const key of [...wrong, unknown, `sk-weir-${'a'.repeat(5000)}`])
      await expectUnauthorized(await ask(path, `Bearer ${key}`), 'invalid_api_key')
  })

  test('rejects a key that is expired or revoked', async () => {
    await expectUnauthorized(await ask(path, `Bearer ${keys.expired}`), 'invalid_api_key')
    await expectUnauthorized(await ask(path, `Bearer ${keys.revoked}`), 'invalid_api_key')
  })

  test('answers 403 to a key whose organization was deleted', async () => {
    expect(await readError(await ask(path, `Bearer ${keys.orphan}`))).toEqual({
      status: 403,
      message: expect.stringContaining('organization'),
      type: 'invalid_request_error',
      param: null,
      code: 'no_organization',
    })
  })
})

test.each(['/livez', '/readyz'])('%s requires no key', async (path) => {
  expect((await ask(path, null)).status).toBe(200)
})

test('no part of a key appears in a reply or in the log', async () => {
  const replies = await Promise.all(
    [firstKey, keys.expired, keys.revoked, keys.orphan].map(async (key) => {
      const response = await ask('/v1/models', `Bearer ${key}`)
      return JSON.stringify(response.headers.toJSON()) + (await response.text())
    }),
  )
  expect(replies.join() + app.lines.join()).not.toMatch(/sk-weir-[0-9A-Za-z]/)
})

test('a gateway that is shutting down is not ready, but still serves requests', async () => {
  app.runtime.drain()
  expect(await readError(await ask('/readyz', null))).toMatchObject({
    status: 503,
    type: 'service_unavailable_error',
    code: 'service_unavailable',
  })
  expect((await ask('/livez', null)).status).toBe(200)
  expect((await ask('/v1/models', `Bearer ${firstKey}`)).status).toBe(200)
})

test.each([
  ['expired', { status: 401, error: 'invalid_api_key', reason: 'expired_key' }],
  ['revoked', { status: 401, error: 'invalid_api_key', reason: 'revoked_key' }],
  ['orphan', { status: 403, error: 'no_organization' }],
] as const)('the log says which key was rejected, and why: %s', async (which, line) => {
  const key = keys[which]
  const reply = await ask('/v1/models', `Bearer ${key}`)
  const received = await app.requestLines.of(reply)
  expect(received).toMatchObject({ ...line, key: key.split('-')[2] })
  expect(received).not.toHaveProperty('claimed_key')
  expect(JSON.stringify(received)).not.toContain(key.split('-')[3])
})
