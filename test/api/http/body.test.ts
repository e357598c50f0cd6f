import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'bun:test'
import { type App, startApp } from '../../support/app.ts'
import { readError } from '../../support/chat-reply.ts'
import { openConnection } from '../../support/connection.ts'

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
function inPieces(complete: string): ReadableStream {
  const bytes = Buffer.from(complete)
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

  test.each([...notJson])('such as %j', async (body) => {
    expect(await readError(await send(body))).toEqual({
      status: 400,
      message: 'The request body is not valid JSON.',
      type: 'invalid_request_error',
      param: null,
      code: null,
    })
  })

  test('such as an empty body', async () => {
    expect((await send(undefined, { 'content-type': null })).status).toBe(400)
  })

  test('but a JSON body that is not a valid request is rejected with the reason', async () => {
    for (const body of ['null', '[]', '5', '"a"'])
      expect(await readError(await send(body))).toMatchObject({
        status: 400,
        code: 'invalid_type',
        param: null,
      })
  })
})

describe('a JSON body is accepted', () => {
  test.each([
    ['application/json'],
    ['application/json; charset=utf-8'],
    ['text/plain'],
    ['application/x-www-form-urlencoded'],
    ['application/octet-stream'],
    [null],
  ])('whatever its content type: %s', async (type) => {
    expect((await send(text, { 'content-type': type })).status).toBe(200)
  })

  test('with a leading byte order mark', async () => {
    expect((await send(`\uFEFF${text}`)).status).toBe(200)
  })

  test('with properties that would pollute a prototype elsewhere', async () => {
    const body = text.replace('{', '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},')
    expect((await send(body)).status).toBe(200)
    expect('polluted' in {}).toBe(false)
  })
})

describe('a body in another format is a 415', () => {
  const other = { status: 415, type: 'invalid_request_error', code: 'unsupported_media_type', param: null }

  test('when it is multipart', async () => {
    const form = new FormData()
    form.set('model', 'weir/echo')
    expect(await readError(await send(form, { 'content-type': null }))).toMatchObject(other)
  })

  test.each(['gzip', 'br', 'zstd', 'GZIP', 'gzip, gzip'])(
    'when it is compressed with %s',
    async (encoding) => {
      const response = await send(Bun.gzipSync(Buffer.from(text)), { 'content-encoding': encoding })
      expect(await readError(response)).toMatchObject(other)
    },
  )

  test('but not when its content encoding is identity', async () => {
    expect((await send(text, { 'content-encoding': 'identity' })).status).toBe(200)
  })
})

describe('a body', () => {
  const tooLarge = {
    status: 413,
    message: expect.stringContaining(String(limit)),
    type: 'invalid_request_error',
    param: null,
    code: 'request_too_large',
  }

  test('may be as large as the limit, with or without a content length', async () => {
    expect((await send(padded(limit))).status).toBe(200)
    expect((await send(inPieces(padded(limit)))).status).toBe(200)
  })

  test('above the size limit is a 413, with or without a content length', async () => {
    expect(await readError(await send(padded(limit + 1)))).toEqual(tooLarge)
    expect(await readError(await send(inPieces(padded(limit + 1))))).toEqual(tooLarge)
  })

  test('is measured in bytes', async () => {
    const body = JSON.stringify({ ...plain, user: '水'.repeat(limit / 3) })
    expect(body.length).toBeLessThan(limit)
    expect((await send(body)).status).toBe(413)
    expect((await send(inPieces(body))).status).toBe(413)
  })

  test('whose content length is too large is rejected before it is received', async () => {
    const connection = await openConnection(app.url)
    connection.write(head(`content-length: ${limit + 1}`))
    const reply = await connection.until('request_too_large')
    expect(reply).toStartWith('HTTP/1.1 413')
    expect(reply).toMatch(/x-request-id: req_/i)
    connection.reset()
  })

  test('that never ends is rejected at the size limit', async () => {
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

describe('a nested body', () => {
  const nested = (levels: number) => `${text.slice(0, -1)},"deep":${'['.repeat(levels)}${']'.repeat(levels)}}`

  test('may have 500 levels', async () => {
    expect((await send(nested(499))).status).toBe(200)
  })

  test('with more levels is a 400', async () => {
    expect(await readError(await send(nested(500)))).toMatchObject({
      status: 400,
      code: 'invalid_value',
      param: null,
    })
  })

  test('is rejected without harm, however deep it is', async () => {
    await using deep = await startApp()
    for (const body of ['['.repeat(1_000_000), nested(500_000), '{"a":'.repeat(200_000)])
      expect((await deep.request(path, { body })).status).toBe(400)
    expect((await deep.request('/livez')).status).toBe(200)
  })
})

describe('a request without a key is a 401', () => {
  test.each([
    ['that is not JSON', '{', {}],
    ['that is too large', padded(limit + 1), {}],
    ['that is compressed', text, { 'content-encoding': 'gzip' }],
    ['that is wrong', '{}', {}],
    ['that is right', text, {}],
  ])('also where its body is one %s', async (_, body, headers) => {
    expect((await send(body, { ...headers, authorization: null })).status).toBe(401)
  })

  test('also where it has no body', async () => {
    const connection = await openConnection(app.url)
    connection.write(`POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\n`)
    expect(await connection.until('\r\n\r\n')).toStartWith('HTTP/1.1 401')
    connection.reset()
  })
})

test('a variable for Elysia does not change how bodies are read', async () => {
  process.env.ELYSIA_AOT = 'false'
  onTestFinished(() => void delete process.env.ELYSIA_AOT)
  await using other = await startApp()
  expect((await other.chat(plain)).status).toBe(200)
})
