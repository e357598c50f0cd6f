import { describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { startApp } from '../../support/app.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { readError } from '../../support/chat-reply.ts'
import type { DatabaseLocation } from '../../../src/storage/database-location.ts'
import { limitHeaders, sharedDatabase } from '../../support/limits.ts'

const echo = { model: 'weir/echo', messages: [{ role: 'user', content: 'How high is it?' }] }

/** A gateway whose limits see a clock that stands until a test turns it. */
async function startLimited(limits: Record<string, number>, database?: DatabaseLocation) {
  const clock = { now: 0 }
  const app = await startApp({ settings: { limits }, clock: () => clock.now, database })
  return { app, clock, [Symbol.asyncDispose]: app.stop }
}

describe('a burst of requests', () => {
  test('of 500 with a limit of 100 passes exactly 100', async () => {
    await using gateway = await startLimited({ requests_per_minute: 100 })
    const replies = await Promise.all(Array.from({ length: 500 }, () => gateway.app.chat(echo)))
    const statuses = replies.map(({ status }) => status)
    expect(statuses.filter((status) => status === 200).length).toBe(100)
    expect(statuses.filter((status) => status === 429).length).toBe(400)
  })

  test('counts every endpoint that requires a key, and no other', async () => {
    await using gateway = await startLimited({ requests_per_minute: 4 })
    const { app } = gateway
    await app.request('/livez')
    const paths = ['/v1/models', '/v1/models/echo', '/v1/models/nobody']
    const left: (string | null)[] = []
    for (const path of paths)
      left.push((await app.request(path)).headers.get('x-ratelimit-remaining-requests'))
    expect(left).toEqual(['3', '2', '1'])
    expect((await app.chat(echo)).status).toBe(200)
    expect((await app.request('/v1/models')).status).toBe(429)
    expect((await app.request('/livez')).status).toBe(200)
  })

  test('is rejected with the exceeded limit and the time to retry, after which it passes', async () => {
    await using gateway = await startLimited({ requests_per_minute: 1000 })
    const { app, clock } = gateway
    await Promise.all(
      Array.from({ length: 1000 }, async () => (await app.request('/v1/models')).body?.cancel()),
    )
    const refused = await app.request('/v1/models')
    expect(limitHeaders(refused)).toEqual({
      'retry-after': '1',
      'retry-after-ms': '60',
      'x-ratelimit-limit-requests': '1000',
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-requests': '1m0s',
      'x-ratelimit-limit-tokens': '20000000',
      'x-ratelimit-remaining-tokens': '20000000',
      'x-ratelimit-reset-tokens': '0s',
    })
    expect(refused.headers.get('x-request-id')).toStartWith('req_')
    expect(await readError(refused)).toEqual({
      status: 429,
      type: 'requests',
      code: 'rate_limit_exceeded',
      param: null,
      message:
        'Rate limit exceeded: too many requests per minute for the organization (limit: 1000). Try again in 0.06 seconds.',
    })
    clock.now += 60
    expect((await app.request('/v1/models')).status).toBe(200)
  })

  test('of the official client passes, because it retries at the announced time', async () => {
    // 800 ms between two requests: longer than the client waits by itself before its first retry.
    await using gateway = await startLimited({ requests_per_minute: 75 })
    const { app, clock } = gateway
    await Promise.all(Array.from({ length: 75 }, () => app.request('/v1/models')))
    const sentAt: number[] = []
    const openai = new OpenAI({
      baseURL: `${app.url}/v1`,
      apiKey: app.key,
      fetch: (url, init) => {
        clock.now = sentAt.push(performance.now()) === 1 ? 0 : 800
        return fetch(url, init)
      },
    })
    const models = await openai.models.list()
    expect(models.data.map(({ id }) => id)).toEqual(['weir/echo'])
    expect(sentAt.length).toBe(2)
    expect((sentAt[1] ?? 0) - (sentAt[0] ?? 0)).toBeGreaterThanOrEqual(795)
  })
})

describe('the rate limit headers', () => {
  const names = ['limit', 'remaining', 'reset'].flatMap((what) => [
    `x-ratelimit-${what}-requests`,
    `x-ratelimit-${what}-tokens`,
  ])

  test.each<[string, number, (app: Awaited<ReturnType<typeof startApp>>) => Promise<Response>]>([
    ['a complete reply', 200, (app) => app.chat(echo)],
    ['a stream', 200, (app) => app.chat({ ...echo, stream: true })],
    ['the model list', 200, (app) => app.request('/v1/models')],
    ['a model', 200, (app) => app.request('/v1/models/echo')],
    ['a bad field', 400, (app) => app.chat({ ...echo, temperature: 9 })],
    ['a body that is not JSON', 400, (app) => app.request('/v1/chat/completions', { body: '{' })],
    ['an unknown model', 404, (app) => app.chat({ ...echo, model: 'nobody' })],
    [
      'a form',
      415,
      (app) =>
        app.request('/v1/chat/completions', { body: new FormData(), headers: { 'content-type': null } }),
    ],
  ])('are present on %s', async (_, status, ask) => {
    await using gateway = await startLimited({})
    const reply = await ask(gateway.app)
    expect(reply.status).toBe(status)
    expect(Object.keys(limitHeaders(reply)).toSorted()).toEqual(names.toSorted())
    expect(reply.headers.get('x-ratelimit-remaining-requests')).toBe('5999')
    expect(reply.headers.get('x-ratelimit-reset-requests')).toBe('10ms')
  })

  test('are absent for unauthenticated callers and on health probes', async () => {
    await using gateway = await startLimited({})
    const { app } = gateway
    const refused = await app.chat(echo, { headers: { authorization: 'Bearer x' } })
    expect([refused.status, limitHeaders(refused)]).toEqual([401, {}])
    expect(limitHeaders(await app.request('/livez'))).toEqual({})
  })

  test.each([
    [1, '1m0s'],
    [10, '6s'],
    [50, '1.2s'],
    [70, '858ms'],
  ])('write the reset time at %d a minute as %s', async (limit, text) => {
    await using gateway = await startLimited({ requests_per_minute: limit })
    const reply = await gateway.app.request('/v1/models')
    expect(reply.headers.get('x-ratelimit-reset-requests')).toBe(text)
  })
})

test('the rate limit is checked after the key and before the body', async () => {
  await using gateway = await startLimited({ requests_per_minute: 1 })
  const { app } = gateway
  expect((await app.request('/v1/models')).status).toBe(200)
  expect((await app.request('/v1/chat/completions', { body: '{' })).status).toBe(429)
  expect((await app.chat({ ...echo, temperature: 9 })).status).toBe(429)
  expect((await app.chat(echo, { headers: { authorization: null } })).status).toBe(401)
})

test('two organizations do not share a limit, two keys of one do', async () => {
  const { location, keyOf } = await sharedDatabase()
  await using gateway = await startLimited({ requests_per_minute: 1 }, location)
  const { app } = gateway
  const headers = await keyOf('acme')
  expect((await app.request('/v1/models')).status).toBe(200)
  expect((await app.request('/v1/models')).status).toBe(429)
  expect((await app.request('/v1/models', { headers })).status).toBe(200)
  expect((await app.request('/v1/models', { headers })).status).toBe(429)
  const second = await keyOf('acme')
  expect((await app.request('/v1/models', { headers: second })).status).toBe(429)
})

test('a limit that another process changes takes effect while the gateway runs', async () => {
  const { location, setLimit } = await sharedDatabase()
  await using gateway = await startLimited({}, location)
  const limit = async () =>
    (await gateway.app.request('/v1/models')).headers.get('x-ratelimit-limit-requests')
  expect(await limit()).toBe('6000')
  await setLimit('default', 'requests_per_minute', 7)
  await waitUntil(async () => (await limit()) === '7', 'the changed limit')
})
