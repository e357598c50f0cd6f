import { expect, test } from 'bun:test'
import { createCredentials } from '../../../src/providers/config/service-account.ts'
import { tokenReply, tokenServer } from '../gateway/support/token-server.ts'

const timeoutMs = new AbortController().signal
const minute = 60_000

/** A clock that stands still until it is moved. */
function clockAt(start: number) {
  let time = start
  return { now: () => time, pass: (milliseconds: number) => void (time += milliseconds) }
}

test('a service account signs its claims and receives a token', async () => {
  using server = tokenServer(() => tokenReply('token-1'))
  const clock = clockAt(1_790_000_000_000)
  const credentials = createCredentials(server.account, 'vertex', clock.now)
  expect(await credentials.token(timeoutMs)).toBe('token-1')
  expect(server.asked).toEqual([
    {
      grant: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      header: { alg: 'RS256', typ: 'JWT', kid: 'key-1' },
      claims: {
        iss: server.account.email,
        scope: 'https://www.googleapis.com/auth/cloud-platform',
        aud: server.account.tokenUri,
        iat: 1_790_000_000,
        exp: 1_790_003_600,
      },
      genuine: true,
    },
  ])
})

test('one token exchange serves all waiting calls, and a client that disconnects ends only its own wait', async () => {
  const release = Promise.withResolvers<void>()
  const opening = Promise.withResolvers<void>()
  using server = tokenServer(async () => {
    opening.resolve()
    await release.promise
    return tokenReply('token-1')
  })
  const credentials = createCredentials(server.account, 'vertex')
  const aborting = new AbortController()
  const left = credentials.token(aborting.signal)
  const others = Array.from({ length: 20 }, () => credentials.token(timeoutMs))
  await opening.promise
  aborting.abort(new Error('gone'))
  await expect(left).rejects.toThrow('gone')
  release.resolve()
  expect(new Set(await Promise.all(others))).toEqual(new Set(['token-1']))
  expect(server.asked).toHaveLength(1)
})

test('a token is used until five minutes before its expiry, and then while its successor is requested', async () => {
  const second = Promise.withResolvers<void>()
  using server = tokenServer((count) => {
    if (count === 2) second.resolve()
    return tokenReply(`token-${count}`)
  })
  const clock = clockAt(0)
  const credentials = createCredentials(server.account, 'vertex', clock.now)
  await credentials.token(timeoutMs)
  clock.pass(54 * minute)
  expect(await credentials.token(timeoutMs)).toBe('token-1')
  expect(server.asked).toHaveLength(1)
  clock.pass(2 * minute)
  expect(await credentials.token(timeoutMs)).toBe('token-1')
  await second.promise
  clock.pass(5 * minute)
  expect(await credentials.token(timeoutMs)).toBe('token-2')
  expect(server.asked).toHaveLength(2)
})

test('a failed renewal is retried, and the old token is used until its expiry', async () => {
  const failed = Promise.withResolvers<void>()
  using server = tokenServer((count) => {
    if (count !== 2) return tokenReply(`token-${count}`)
    failed.resolve()
    return new Response('', { status: 503 })
  })
  const clock = clockAt(0)
  const credentials = createCredentials(server.account, 'vertex', clock.now)
  await credentials.token(timeoutMs)
  clock.pass(57 * minute)
  expect(await credentials.token(timeoutMs)).toBe('token-1')
  await failed.promise
  clock.pass(3 * minute)
  expect(await credentials.token(timeoutMs).catch(() => credentials.token(timeoutMs))).toBe('token-3')
})

test.each<[string, () => Response, object]>([
  [
    'rejects the request',
    () => Response.json({ error: 'invalid_grant', error_description: 'canary' }, { status: 400 }),
    { code: 'provider_key_rejected', headers: { 'x-should-retry': 'false' } },
  ],
  [
    'responds without a token',
    () => Response.json({}),
    { code: 'provider_key_rejected', headers: { 'x-should-retry': 'false' } },
  ],
  ['fails', () => new Response('canary', { status: 500 }), { code: 'upstream_unavailable', headers: {} }],
])(
  'where the token server %s, the client gets a 502, and the next call tries again',
  async (_name, reply, facts) => {
    using server = tokenServer((count) => (count === 1 ? reply() : tokenReply('token-2')))
    const credentials = createCredentials(server.account, 'my-vertex')
    const error = await credentials.token(timeoutMs).catch((error) => error)
    expect(error).toMatchObject({ status: 502, type: 'server_error', ...facts })
    expect(error.message).toContain('my-vertex')
    expect(error.message).not.toContain('canary')
    expect(await credentials.token(timeoutMs)).toBe('token-2')
  },
)

test('a token server that cannot be reached is a retryable failure', async () => {
  const server = tokenServer(() => tokenReply('token-1'))
  server[Symbol.dispose]()
  const credentials = createCredentials(server.account, 'vertex')
  await expect(credentials.token(timeoutMs)).rejects.toMatchObject({ code: 'upstream_unavailable' })
})
