import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { errorHandler } from '../../../src/http/errors.ts'
import { standardHeaders } from '../../../src/http/request-telemetry.ts'
import { createLog } from '../../../src/lib/log.ts'
import { type App, startApp } from '../../support/app.ts'
import { readError } from '../../support/chat-reply.ts'
import { openConnection } from '../../support/connection.ts'

let app: App
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.stop())

const notFound = { status: 404, type: 'invalid_request_error', param: null, code: null }
const notAllowed = { status: 405, type: 'invalid_request_error', param: null, code: 'method_not_supported' }

describe('an unknown path', () => {
  test.each([
    ['POST', '/'],
    ['GET', '/nowhere'],
    ['POST', '/nowhere'],
    ['OPTIONS', '/nowhere'],
    ['GET', '/v1'],
    ['GET', '/V1/models'],
    ['GET', '/v1/chat/completions/x/y/z'],
    ['GET', '/%2e%2e/etc/passwd'],
  ])('is a 404 that names it: %s %s', async (method, path) => {
    const response = await app.request(path, { method, headers: { authorization: null } })
    expect(response.headers.get('content-type')).toStartWith('application/json')
    expect(await readError(response)).toEqual({
      ...notFound,
      message: expect.stringContaining(`${method} ${new URL(response.url).pathname}`),
    })
  })

  test('is not echoed with its query, which may hold a key by mistake', async () => {
    const response = await app.request(`/nowhere?key=${app.key}`)
    expect(await response.text()).not.toContain('sk-weir')
  })
})

test.each([
  ['POST', '/chat/completions', 'Did you mean POST /v1/chat/completions?'],
  ['POST', '/v1/v1/chat/completions', 'Did you mean POST /v1/chat/completions?'],
  ['POST', '//v1//chat/completions', 'Did you mean POST /v1/chat/completions?'],
  ['POST', '/v1/chat/completion', 'Did you mean POST /v1/chat/completions?'],
  ['POST', '/v1/chat/completions/chat/completions', 'Did you mean POST /v1/chat/completions?'],
  ['POST', '/openai/deployments/gpt/chat/completions', 'Did you mean POST /v1/chat/completions?'],
  ['POST', '/V1/Chat/Completions', 'Did you mean POST /v1/chat/completions?'],
  ['GET', '/models', 'Did you mean GET /v1/models?'],
  ['GET', '/v1/model', 'Did you mean GET /v1/models?'],
  ['POST', '/v1/response', 'Did you mean POST /v1/responses?'],
  ['DELETE', '/responses/resp_1', 'Did you mean DELETE /v1/responses/{id}?'],
  ['GET', '/api/tags', 'Did you mean GET /v1/models?'],
  ['POST', '/api/chat', 'Did you mean POST /v1/chat/completions?'],
  ['GET', '/v1/metrics', 'Did you mean GET /metrics?'],
  ['POST', '/v1/moderations', '/v1/moderations is not supported by this gateway.'],
  ['POST', '/v1/responses/compact', 'Send a summary of the earlier input instead.'],
  ['POST', '/v1/conversations', 'Continue a response with previous_response_id instead.'],
  ['POST', '/embeddings', 'Did you mean POST /v1/embeddings?'],
])('%s %s is a 404 that suggests the intended path', async (method, path, hint) => {
  const { status, message } = await readError(await app.request(path, { method }))
  expect([status, message.slice(-hint.length)]).toEqual([404, hint])
})

test.each(['/v1', '/nowhere', `/${'x'.repeat(8000)}`, `/${'a/'.repeat(4000)}models`, '/favicon.ico'])(
  'a 404 for any other path suggests nothing and stays short: %#',
  async (path) => {
    const { message } = await readError(await app.request(path))
    expect(message).not.toContain('Did you mean')
    expect(message.length).toBeLessThan(300)
  },
)

test('a method unknown to HTTP is a 501, whatever the path', async () => {
  // The server itself closes the connection of a client whose method it cannot read, `FOO` for one.
  for (const path of ['/v1/models', '/nowhere']) {
    const reply = await app.request(path, { method: 'PURGE' })
    expect(await readError(reply)).toMatchObject({ status: 501, code: 'method_not_implemented' })
  }
})

describe('an unsupported method of a path', () => {
  test.each([
    ['PUT', '/v1/chat/completions', 'POST'],
    ['DELETE', '/v1/chat/completions', 'POST'],
    ['PATCH', '/v1/chat/completions', 'POST'],
    ['POST', '/v1/models', 'GET'],
    ['OPTIONS', '/v1/models', 'GET'],
    ['PROPFIND', '/v1/models', 'GET'],
    ['POST', '/livez', 'GET'],
  ])('is a 405 that lists the supported ones: %s %s', async (method, path, allowed) => {
    const response = await app.request(path, { method })
    expect(response.headers.get('allow')).toContain(allowed)
    expect(await readError(response)).toEqual({ ...notAllowed, message: expect.stringContaining(allowed) })
  })
})

describe('a HEAD request', () => {
  test.each([
    ['/livez', 200],
    ['/v1/models', 200],
    ['/v1/chat/completions', 200],
    ['/v1/chat/completions/chatcmpl-1', 404],
    ['/nowhere', 404],
  ])('is answered like GET without a body: %s', async (path, status) => {
    const response = await app.request(path, { method: 'HEAD' })
    expect([response.status, await response.text()]).toEqual([status, ''])
  })

  test('needs a key where GET does', async () => {
    const response = await app.request('/v1/models', { method: 'HEAD', headers: { authorization: null } })
    expect(response.status).toBe(401)
  })
})

describe('every reply has a unique request id', () => {
  const requests: readonly (readonly [status: number, path: string, body?: unknown, key?: null])[] = [
    [200, '/livez'],
    [200, '/v1/models'],
    [200, '/v1/chat/completions', { model: 'weir/echo', messages: [{ role: 'user', content: 'a' }] }],
    [400, '/v1/chat/completions', '{'],
    [400, '/v1/chat/completions', {}],
    [401, '/v1/models', undefined, null],
    [401, '/v1/chat/completions', {}, null],
    [404, '/nowhere'],
    [404, '/v1/chat/completions', { model: 'a/b', messages: [{ role: 'user', content: 'a' }] }],
    [405, '/v1/models', {}],
    [413, '/v1/chat/completions', ' '.repeat(33 * 1024 ** 2)],
  ]

  test('whatever its status', async () => {
    const ids: (string | null)[] = []
    for (const [status, path, body, key] of requests) {
      const headers: Record<string, null> = key === null ? { authorization: null } : {}
      const response = await app.request(path, { body, headers })
      await response.body?.cancel()
      expect([path, response.status]).toEqual([path, status])
      ids.push(response.headers.get('x-request-id'))
    }
    expect(ids.filter((id) => !/^req_[0-9A-Za-z]{16,}$/.test(id ?? ''))).toEqual([])
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('also where the client sends one', async () => {
    const response = await app.request('/livez', { headers: { 'x-request-id': 'mine' } })
    expect(response.headers.get('x-request-id')).toStartWith('req_')
  })
})

test.each(['x', 'ai', 'a.b', 'localhost', '[::1]:99', 'a-very-long-name.of-a.host.example.com:8080', ''])(
  'the host name may have any length: “%s”',
  async (host) => {
    const connection = await openConnection(app.url)
    connection.write(`GET /v1/models HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n`)
    connection.write(`authorization: Bearer ${app.key}\r\n\r\n`)
    const reply = await connection.end()
    expect(reply).toStartWith('HTTP/1.1 200')
    expect(reply).toContain('"object":"list"')
  },
)

test('an unexpected error writes its cause to the log and hides it from the client', async () => {
  const lines: string[] = []
  const broken = new Elysia()
    .use(standardHeaders())
    .use(errorHandler(createLog((line) => void lines.push(line))))
    .get('/broken', () => {
      throw new TypeError('the cause')
    })
  const response = await broken.handle(new Request('http://localhost/broken'))
  const id = response.headers.get('x-request-id')
  expect(await readError(response)).toEqual({
    status: 500,
    message: expect.stringMatching(/^The gateway encountered an internal error/),
    type: 'server_error',
    param: null,
    code: 'internal_error',
  })
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({
      level: 'error',
      message: 'A request failed.',
      request: id,
      status: 500,
      cause: 'TypeError: the cause',
    }),
  ])
})

test('a client error is not logged as an error', () => {
  expect(app.lines).toEqual([])
})
