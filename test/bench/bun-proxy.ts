// The minimal proxy in this language: bun test/bench/bun-proxy.ts MODE UPSTREAM. The mode selects what is done
// with bodies: `pipe` hands them over unread, `read` reads and writes each piece, `parse` reads and writes their JSON.
import { SseParser } from '../../src/lib/sse.ts'

const [mode = 'pipe', upstream = ''] = process.argv.slice(2)

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  idleTimeout: 0,
  async fetch(request) {
    const { pathname, search } = new URL(request.url)
    const body = request.method === 'GET' ? undefined : await bodyOf(request)
    const { headers, method } = request
    const response = await fetch(upstream + pathname + search, { method, headers, body })
    return mode === 'pipe' ? response : replyOf(response)
  },
})
console.log(`listens on http://127.0.0.1:${server.port}`)

async function bodyOf(request: Request): Promise<string> {
  return mode === 'parse' ? JSON.stringify(await request.json()) : request.text()
}

async function replyOf(response: Response): Promise<Response> {
  const type = response.headers.get('content-type') ?? ''
  const headers = { 'content-type': type }
  if (type.startsWith('text/event-stream') && response.body) {
    const pieces = mode === 'parse' ? parsed(response.body) : read(response.body)
    return new Response(pieces as unknown as ReadableStream, { headers })
  }
  return new Response(mode === 'parse' ? JSON.stringify(await response.json()) : await response.text(), {
    headers,
  })
}

async function* read(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader()
  for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value
}

async function* parsed(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const sse = new SseParser()
  for await (const bytes of read(body)) {
    let text = ''
    for (const { event, data } of sse.push(bytes)) {
      const name = event === '' ? '' : `event: ${event}\n`
      text += `${name}data: ${data === '[DONE]' ? data : JSON.stringify({ ...JSON.parse(data) })}\n\n`
    }
    if (text !== '') yield text
  }
}
