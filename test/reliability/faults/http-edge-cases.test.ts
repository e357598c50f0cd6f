import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { SseParser } from '../../../src/lib/sse.ts'
import { Meter } from '../../../src/gateway/billing/meter.ts'
import { requestPath } from '../../../src/http/routing.ts'
import { type App, firstKey, startApp } from '../../support/app.ts'
import { openConnection } from '../../support/connection.ts'
import { chatRequest, startScenario } from '../../support/scenario.ts'
import { silence } from '../../support/script.ts'
import { plainGeneration } from '../../unit/providers/protocols/support/generations.ts'

let app: App
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.stop())

const key = `authorization: Bearer ${firstKey}\r\n`

describe('an unsupported method of a path', () => {
  test.each(['/v1/models', '/livez', '/v1/responses/resp_x', '/v1/chat/completions/chatcmpl-x/messages'])(
    'is rejected before its body, even if that is a malformed form: %s',
    async (path) => {
      const headers = { 'content-type': 'multipart/form-data; boundary=x' }
      const reply = await app.request(path, { method: 'PUT', headers, body: 'no form' })
      expect(reply.status).toBe(405)
    },
  )

  test.each(['/v1/models', '/livez', '/openapi.json'])(
    'is rejected before its body, of which nothing is awaited or stored: %s',
    async (path) => {
      const connection = await openConnection(app.url)
      const head = 'host: a\r\ncontent-type: application/json\r\ncontent-length: 1000000000000'
      connection.write(`POST ${path} HTTP/1.1\r\n${head}\r\n\r\n["the beginning`)
      expect(await connection.until('method_not_supported')).toStartWith('HTTP/1.1 405 ')
      connection.reset()
    },
  )
})

test('a client that sends a thousand requests at once gets replies to some, and its connection is closed', async () => {
  const connection = await openConnection(app.url)
  const request = 'GET /livez HTTP/1.1\r\nhost: a\r\n'
  connection.write(`${`${request}\r\n`.repeat(999)}${request}connection: close\r\n\r\n`)
  const replies = (await connection.end()).match(/HTTP\/1\.1 200 /g) ?? []
  expect(replies.length).toBeWithin(1, 500)
  expect((await app.request('/livez')).status).toBe(200)
})

describe('an invalid host header', () => {
  test.each(['[::1', 'a b', '', ':', '%zz', 'a/b?c#d'])(
    'does not prevent an error reply: %s',
    async (host) => {
      const connection = await openConnection(app.url)
      connection.write(`GET /v1/nothing HTTP/1.1\r\nhost: ${host}\r\n${key}connection: close\r\n\r\n`)
      const reply = await connection.end()
      expect(reply).toStartWith('HTTP/1.1 404 ')
      expect(reply).toMatch(/"Unknown endpoint: GET \S*\/v1\/nothing\."/)
    },
  )

  test.each([
    ['http://localhost/v1/models?a=/b', '/v1/models'],
    ['http://localhost', '/'],
    ['http://[::1/v1/x#y', '/v1/x'],
    ['/v1/models?x', '/v1/models'],
    ['443', '/'],
  ])('is not part of the path: %s', (url, path) => {
    expect(requestPath({ url } as Request)).toBe(path)
  })
})

test('an HTTP/1.0 client without a host header that disconnects ends its call', async () => {
  await using scenario = await startScenario(silence)
  const connection = await openConnection(scenario.app.url)
  const body = JSON.stringify(chatRequest)
  const head = `POST /v1/chat/completions HTTP/1.0\r\n${key}content-length: ${body.length}\r\n\r\n`
  connection.write(head + body)
  const request = await scenario.acme.request(0)
  connection.reset()
  expect(await request.aborted).toBe(true)
})

test('a stream to an HTTP/1.0 client is complete', async () => {
  const connection = await openConnection(app.url)
  const body = JSON.stringify({ ...chatRequest, model: 'weir/echo', stream: true })
  connection.write(
    `POST /v1/chat/completions HTTP/1.0\r\n${key}content-length: ${body.length}\r\n\r\n${body}`,
  )
  expect(await connection.end()).toContain('data: [DONE]\n\n')
})

test('a line that arrives in thousands of pieces is read once, not once for each of them', () => {
  const parser = new SseParser()
  const piece = new TextEncoder().encode('x'.repeat(1000))
  parser.push(new TextEncoder().encode('data: '))
  for (let count = 0; count < 20_000; count++) expect(parser.push(piece)).toEqual([])
  const [event] = parser.push(new TextEncoder().encode('\n\n'))
  expect(event?.data).toHaveLength(20_000_000)
}, 3000)

test.each([
  [['data: a\r', '\ndata: b\r\n\r\n'], 'a\nb'],
  [['data: a\r', 'data: b\r\r'], 'a\nb'],
  [['data: a\r', 'data', ': b', '\r\r'], 'a\nb'],
  [['da', 'ta: a', '\r\n\r\n'], 'a'],
])('a CR at the end of a chunk is remembered across chunks without a line end: %j', (pieces, data) => {
  const parser = new SseParser()
  const events = pieces.flatMap((piece) => parser.push(new TextEncoder().encode(piece)))
  expect([...events, ...parser.end()]).toEqual([{ event: '', data }])
})

test('impossible token counts are ignored, and so are the ones before them', () => {
  const meter = new Meter({ generation: plainGeneration, model: { routes: [] }, stream: true })
  meter.add([{ type: 'text', choice: 0, text: 'eight ch' }])
  meter.add([{ type: 'usage', usage: { promptTokens: 12, completionTokens: 1 } }])
  meter.add([{ type: 'usage', usage: { promptTokens: 12, completionTokens: 1e300 } }])
  meter.add([{ type: 'finish', choice: 0, reason: 'stop' }])
  expect(meter.usage()).toMatchObject({ completionTokens: 2, estimated: true })
  meter.add([{ type: 'usage', usage: { promptTokens: 12, completionTokens: 5 } }])
  expect(meter.usage()).toMatchObject({ promptTokens: 12, completionTokens: 5, estimated: false })
})
