import { firstKey } from '../support/app.ts'
import { type Draw, oneOf, randomBody } from './fuzz-bodies.ts'

/** A request as bytes, with what is needed to judge its reply. */
export type FuzzRequest = {
  readonly bytes: Buffer
  /** It may be no HTTP at all, so that a connection that just ends is an answer. */
  readonly broken: boolean
}

/** A request to any route, somewhere between valid and nonsense; `ids` are some that exist. */
export function randomRequest(draw: Draw, ids: readonly string[]): FuzzRequest {
  const path = randomPath(draw, ids)
  const method = randomMethod(draw, path)
  const body = method === 'POST' || draw() < 0.05 ? randomBody(draw, path) : ''
  const head = [
    `${method} ${path}${randomQuery(draw, ids)} HTTP/1.1`,
    ...randomHeaders(draw),
    'connection: close',
  ]
  const chunked = body !== '' && draw() < 0.1
  const content = Buffer.from(body)
  head.push(chunked ? 'transfer-encoding: chunked' : `content-length: ${content.length}`)
  const sent = chunked ? inChunks(draw, content) : content
  const bytes = Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'), sent])
  const broken = !knownMethods.includes(method) || head.some((line) => /[\0\x80-\uffff]| {2}|^ /.test(line))
  return { bytes, broken }
}

const routes = [
  '/v1/chat/completions',
  '/v1/chat/completions',
  '/v1/chat/completions',
  '/v1/responses',
  '/v1/responses',
  '/v1/responses',
  '/v1/models',
  '/v1/models/acme/river',
  '/v1/models/{id}',
  '/v1/chat/completions/{id}',
  '/v1/chat/completions/{id}/messages',
  '/v1/responses/{id}',
  '/v1/responses/{id}/cancel',
  '/v1/responses/{id}/input_items',
  '/livez',
  '/readyz',
  '/metrics',
  '/openapi.json',
  '/',
  '/v1',
  '/v1/nothing',
]

const strangeParts = [
  '',
  '.',
  '..',
  '%2e%2e',
  '%2f',
  '%00',
  '%',
  '%zz',
  '%ff%fe',
  '%F0%9F%98%80',
  '*',
  ':id',
  '__proto__',
  'constructor',
  'null',
  '0',
  '-1',
  "'",
  '%22',
  'x'.repeat(2000),
  'chatcmpl-',
  'resp_',
  '[',
  '(',
  '+',
  '%20',
  '@',
  ';a=b',
  ',',
]

function randomPath(draw: Draw, ids: readonly string[]): string {
  const path = oneOf(draw, routes).replace('{id}', () => randomId(draw, ids))
  if (draw() > 0.1) return path
  const parts = path.split('/')
  parts.splice(1 + Math.floor(draw() * parts.length), draw() < 0.5 ? 1 : 0, oneOf(draw, strangeParts))
  return `/${parts.slice(1).join('/')}`
}

function randomId(draw: Draw, ids: readonly string[]): string {
  if (ids.length === 0 || draw() < 0.2) return oneOf(draw, strangeParts)
  const id = oneOf(draw, ids)
  if (draw() < 0.7) return id
  const place = Math.floor(draw() * id.length)
  return id.slice(0, place) + oneOf(draw, strangeParts) + id.slice(place + Math.floor(draw() * 3))
}

const knownMethods = [
  'GET',
  'POST',
  'DELETE',
  'PUT',
  'PATCH',
  'HEAD',
  'OPTIONS',
  'TRACE',
  'CONNECT',
  'PROPFIND',
]

function randomMethod(draw: Draw, path: string): string {
  if (draw() < 0.08) return oneOf(draw, [...knownMethods, 'BREW', 'get', 'POSTT'])
  if (/^\/v1\/(chat\/completions|responses)$/.test(path)) return draw() < 0.85 ? 'POST' : 'GET'
  if (path.endsWith('/cancel')) return 'POST'
  return /^\/v1\/(chat|responses)/.test(path) ? oneOf(draw, ['GET', 'GET', 'GET', 'POST', 'DELETE']) : 'GET'
}

const names = [
  'limit',
  'order',
  'after',
  'model',
  'metadata[place]',
  'metadata',
  'metadata[]',
  'metadata[a][b]',
  'metadata%5Bplace%5D',
  'stream',
  'starting_after',
  'include[]',
  '__proto__',
  '',
  '%ff',
  '%',
  'x'.repeat(1000),
]
const values = [
  '',
  '0',
  '1',
  '20',
  '100',
  '101',
  '-1',
  '1e3',
  '99999999999999999999',
  'NaN',
  'asc',
  'desc',
  'DESC',
  'true',
  'false',
  'weir',
  '%00',
  '%ff',
  '%',
  '%F0%9F%98%80',
  'acme/river',
  '%27%20OR%201=1--',
  '*',
  '"',
  'x'.repeat(3000),
]

function randomQuery(draw: Draw, ids: readonly string[]): string {
  if (draw() < 0.5) return ''
  const pairs = Array.from({ length: Math.floor(draw() * 4) }, () => {
    const value = draw() < 0.2 ? randomId(draw, ids) : oneOf(draw, values)
    return draw() < 0.05 ? oneOf(draw, names) : `${oneOf(draw, names)}=${value}`
  })
  return `?${pairs.join(oneOf(draw, ['&', '&', '&', ';', '&&', '?']))}`
}

const bearer = `authorization: Bearer ${firstKey}`
const keys = [
  '',
  'authorization: Bearer',
  'authorization: Bearer x',
  `authorization: bearer ${firstKey}`,
  `authorization: Basic ${firstKey}`,
  `${bearer}x`,
  `${bearer} `,
  `authorization:Bearer  ${firstKey}`,
  `${bearer}\r\n${bearer}`,
  'authorization: Bearer sk-weir-Test00000000-',
  `authorization: ${'x'.repeat(5000)}`,
  'authorization: Bearer \xff\xfe',
]

const strangeHeaders = [
  'content-type: text/plain',
  'content-type: application/x-www-form-urlencoded',
  'content-type: multipart/form-data; boundary=x',
  'content-type: application/json; charset=utf-16',
  'content-type: ',
  'content-encoding: gzip',
  'content-encoding: identity',
  'accept: text/event-stream',
  'accept-encoding: gzip, br, zstd',
  'origin: https://elsewhere.test',
  'origin: null',
  'access-control-request-method: POST',
  'x-request-id: \xff',
  `x-request-id: ${'x'.repeat(4000)}`,
  'traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  'traceparent: 00-00000000000000000000000000000000-0000000000000000-zz',
  'traceparent: \xfe',
  'x-forwarded-for: 1.2.3.4, , ::1',
  'x-forwarded-host: [',
  'forwarded: for=;;;',
  'if-none-match: *',
  'if-modified-since: yesterday',
  'range: bytes=0-0,5-',
  'cookie: a=b; __proto__=c; =; %',
  'expect: 100-continue',
  'expect: a miracle',
  'upgrade: websocket',
  'host: elsewhere.test',
  'host: [::1',
  'transfer-encoding: identity',
  'idempotency-key: x',
  'te: trailers',
  `x-long: ${'y'.repeat(12_000)}`,
  'x-empty:',
  ': no name',
  'no colon',
]

function randomHeaders(draw: Draw): string[] {
  const key = draw() < 0.93 ? bearer : oneOf(draw, keys)
  const host = draw() < 0.98 ? ['host: localhost'] : []
  const more =
    draw() < 0.3 ? Array.from({ length: 1 + Math.floor(draw() * 4) }, () => oneOf(draw, strangeHeaders)) : []
  return [...host, ...(key === '' ? [] : [key]), ...more]
}

/** In chunks of random sizes, now and then with a lie in it. */
function inChunks(draw: Draw, content: Buffer): Buffer {
  const pieces: Buffer[] = []
  for (let start = 0; start < content.length;) {
    const size = 1 + Math.floor(draw() * content.length)
    const piece = content.subarray(start, start + size)
    pieces.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'))
    start += size
  }
  return Buffer.concat([...pieces, Buffer.from(draw() < 0.95 ? '0\r\n\r\n' : 'zz\r\n\r\n')])
}
