import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type App, startApp } from '../support/app.ts'
import { readError } from '../support/chat-reply.ts'
import { openConnection } from '../support/connection.ts'

const limit = 2000
let app: App
beforeAll(async () => {
  app = await startApp({ settings: { max_body: limit } })
})
afterAll(() => app.stop())

const path = '/v1/chat/completions'
const plain = { model: 'weir/echo', messages: [{ role: 'user', content: 'Hello' }] }
const text = JSON.stringify(plain)

function send(body: unknown, headers: Record<string, string | null> = {}): Promise<Response> {
  return app.request(path, { method: 'POST', body, headers })
}

/** The plain request with spaces around it, to be of this many bytes. */
function padded(length: number): string {
  return text.padEnd(length, ' ')
}

/** As a body without a length, a few bytes at a time. */
function inPieces(whole: string): ReadableStream {
  const bytes = Buffer.from(whole)
  const pieces = Array.from({ length: Math.ceil(bytes.length / 100) }, (_, index) =>
    bytes.subarray(index * 100, index * 100 + 100),
  )
  return new ReadableStream({
    start(controller) {
      pieces.forEach((piece) => controller.enqueue(piece))
      controller.close()
    },
  })
}

describe('a body that is not JSON is a 400', () => {
  const notJson = [
    '',
    ' ',
    '{',
    '{"model":}',
    '{"a":1,}',
    "{'a':1}",
    'undefined',
    'NaN',
    text + '}',
    '\0',
    'model=a',
  ]

  test.each([...notJson])('%j', async (body) => {
    expect(await readError(await send(body))).toEqual({
      status: 400,
      message: 'The request body is not valid JSON.',
      type: 'invalid_request_error',
      param: null,
      code: null,
    })
  })

  test('and so is none at all', async () => {
    expect((await send(undefined, { 'content-type': null })).status).toBe(400)
  })

  test('JSON that is no request is refused for what it is', async () => {
    for (const body of ['null', '[]', '5', '"a"'])
      expect(await readError(await send(body))).toMatchObject({
        status: 400,
        code: 'invalid_type',
        param: null,
      })
  })
})

describe('a body that is JSON is taken', () => {
  test.each([
    ['application/json'],
    ['application/json; charset=utf-8'],
    ['text/plain'],
    ['application/x-www-form-urlencoded'],
    ['application/octet-stream'],
    [null],
  ])('whatever it says of its type: %s', async (type) => {
    expect((await send(text, { 'content-type': type })).status).toBe(200)
  })

  test('with a byte order mark before it', async () => {
    expect((await send(`\uFEFF${text}`)).status).toBe(200)
  })

  test('with properties that would change a prototype elsewhere', async () => {
    const body = text.replace('{', '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},')
    expect((await send(body)).status).toBe(200)
    expect('polluted' in {}).toBe(false)
  })
})

describe('a body in another form is a 415', () => {
  const other = { status: 415, type: 'invalid_request_error', code: 'unsupported_media_type', param: null }

  test('multipart', async () => {
    const form = new FormData()
    form.set('model', 'weir/echo')
    expect(await readError(await send(form, { 'content-type': null }))).toMatchObject(other)
  })

  test.each(['gzip', 'br', 'zstd', 'GZIP', 'gzip, gzip'])('compressed: %s', async (encoding) => {
    const response = await send(Bun.gzipSync(Buffer.from(text)), { 'content-encoding': encoding })
    expect(await readError(response)).toMatchObject(other)
  })

  test('but not one that says that it is not compressed', async () => {
    expect((await send(text, { 'content-encoding': 'identity' })).status).toBe(200)
  })
})

describe('the size of a body', () => {
  const tooLarge = {
    status: 413,
    message: expect.stringContaining(String(limit)),
    type: 'invalid_request_error',
    param: null,
    code: 'request_too_large',
  }

  test('may be the limit, told before or not', async () => {
    expect((await send(padded(limit))).status).toBe(200)
    expect((await send(inPieces(padded(limit)))).status).toBe(200)
  })

  test('is a 413 above it, told before or not', async () => {
    expect(await readError(await send(padded(limit + 1)))).toEqual(tooLarge)
    expect(await readError(await send(inPieces(padded(limit + 1))))).toEqual(tooLarge)
  })

  test('is counted in bytes', async () => {
    const body = JSON.stringify({ ...plain, user: '水'.repeat(limit / 3) })
    expect(body.length).toBeLessThan(limit)
    expect((await send(body)).status).toBe(413)
    expect((await send(inPieces(body))).status).toBe(413)
  })

  test('that is told and too large is refused before the body has come', async () => {
    const connection = await openConnection(app.url)
    connection.write(head(`content-length: ${limit + 1}`))
    const reply = await connection.until('request_too_large')
    expect(reply).toStartWith('HTTP/1.1 413')
    expect(reply).toMatch(/x-request-id: req_/i)
    connection.reset()
  })

  test('is bounded also where the body never ends', async () => {
    const connection = await openConnection(app.url)
    connection.write(head('transfer-encoding: chunked'))
    const feeding = setInterval(() => connection.write(`64\r\n${'x'.repeat(100)}\r\n`), 1)
    expect(await connection.until('request_too_large')).toStartWith('HTTP/1.1 413')
    clearInterval(feeding)
    connection.reset()
  })

  function head(length: string): string {
    return `POST ${path} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${app.key}\r\n${length}\r\n\r\n`
  }
})

describe('the depth of a body', () => {
  const nested = (levels: number) => `${text.slice(0, -1)},"deep":${'['.repeat(levels)}${']'.repeat(levels)}}`

  test('may be 500 levels', async () => {
    expect((await send(nested(499))).status).toBe(200)
  })

  test('is a 400 above', async () => {
    expect(await readError(await send(nested(500)))).toMatchObject({
      status: 400,
      code: 'invalid_value',
      param: null,
    })
  })

  test('is no trouble however deep it is', async () => {
    await using deep = await startApp()
    for (const body of ['['.repeat(1_000_000), nested(500_000), '{"a":'.repeat(200_000)])
      expect((await deep.request(path, { body })).status).toBe(400)
    expect((await deep.request('/livez')).status).toBe(200)
  })
})

describe('without a key the answer is 401, whatever the body', () => {
  test.each([
    ['that is not JSON', '{', {}],
    ['that is too large', padded(limit + 1), {}],
    ['that is compressed', text, { 'content-encoding': 'gzip' }],
    ['that is wrong', '{}', {}],
    ['that is right', text, {}],
  ])('one %s', async (_, body, headers) => {
    expect((await send(body, { ...headers, authorization: null })).status).toBe(401)
  })

  test('one that has not come', async () => {
    const connection = await openConnection(app.url)
    connection.write(`POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\n`)
    expect(await connection.until('\r\n\r\n')).toStartWith('HTTP/1.1 401')
    connection.reset()
  })
})
