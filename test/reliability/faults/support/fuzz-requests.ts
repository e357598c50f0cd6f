import { type Random, pick, randomBody } from './fuzz-bodies.ts'
import { bearer, keys, names, routes, strangeHeaders, strangeParts, values } from './fuzz-tokens.ts'

/** A request as bytes, with what is needed to judge its reply. */
export type FuzzRequest = {
  readonly bytes: Buffer
  /** The request may not be HTTP at all, so a closed connection is an accepted outcome. */
  readonly broken: boolean
}

/** A request to any route, somewhere between valid and nonsense; `ids` are some that exist. */
export function randomRequest(draw: Random, ids: readonly string[]): FuzzRequest {
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

function randomPath(draw: Random, ids: readonly string[]): string {
  const path = pick(draw, routes).replace('{id}', () => randomId(draw, ids))
  if (draw() > 0.1) return path
  const parts = path.split('/')
  parts.splice(1 + Math.floor(draw() * parts.length), draw() < 0.5 ? 1 : 0, pick(draw, strangeParts))
  return `/${parts.slice(1).join('/')}`
}

function randomId(draw: Random, ids: readonly string[]): string {
  if (ids.length === 0 || draw() < 0.2) return pick(draw, strangeParts)
  const id = pick(draw, ids)
  if (draw() < 0.7) return id
  const place = Math.floor(draw() * id.length)
  return id.slice(0, place) + pick(draw, strangeParts) + id.slice(place + Math.floor(draw() * 3))
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

function randomMethod(draw: Random, path: string): string {
  if (draw() < 0.08) return pick(draw, [...knownMethods, 'BREW', 'get', 'POSTT'])
  if (/^\/v1\/(chat\/completions|responses)$/.test(path)) return draw() < 0.85 ? 'POST' : 'GET'
  if (path.endsWith('/cancel')) return 'POST'
  return /^\/v1\/(chat|responses)/.test(path) ? pick(draw, ['GET', 'GET', 'GET', 'POST', 'DELETE']) : 'GET'
}

function randomQuery(draw: Random, ids: readonly string[]): string {
  if (draw() < 0.5) return ''
  const pairs = Array.from({ length: Math.floor(draw() * 4) }, () => {
    const value = draw() < 0.2 ? randomId(draw, ids) : pick(draw, values)
    return draw() < 0.05 ? pick(draw, names) : `${pick(draw, names)}=${value}`
  })
  return `?${pairs.join(pick(draw, ['&', '&', '&', ';', '&&', '?']))}`
}

function randomHeaders(draw: Random): string[] {
  const key = draw() < 0.93 ? bearer : pick(draw, keys)
  const host = draw() < 0.98 ? ['host: localhost'] : []
  const more =
    draw() < 0.3 ? Array.from({ length: 1 + Math.floor(draw() * 4) }, () => pick(draw, strangeHeaders)) : []
  return [...host, ...(key === '' ? [] : [key]), ...more]
}

/** In chunks of random sizes, now and then with a lie in it. */
function inChunks(draw: Random, content: Buffer): Buffer {
  const pieces: Buffer[] = []
  for (let start = 0; start < content.length;) {
    const size = 1 + Math.floor(draw() * content.length)
    const piece = content.subarray(start, start + size)
    pieces.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'))
    start += size
  }
  return Buffer.concat([...pieces, Buffer.from(draw() < 0.95 ? '0\r\n\r\n' : 'zz\r\n\r\n')])
}
