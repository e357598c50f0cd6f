// A provider in a process of its own: bun test/reliability/load/upstream.ts STREAMS CHUNKS MILLISECONDS. It takes calls and is
// silent until so many are open at the same moment; then each gets so many chunks, one in so many milliseconds.
const [streams = 1, chunks = 1, interval = 0] = process.argv.slice(2).map(Number)

type Stream = { readonly controller: ReadableStreamDefaultController<string>; told: number; dueAt: number }

const open = new Set<Stream>()
let max = 0

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  idleTimeout: 0,
  async fetch(request) {
    if (request.method === 'GET') return Response.json({ most: max })
    await request.text()
    return new Response(takeCall(), { headers: { 'content-type': 'text/event-stream' } })
  },
})
console.log(`listens on http://127.0.0.1:${server.port}`)

function takeCall(): ReadableStream<string> {
  let stream: Stream
  return new ReadableStream({
    start(controller) {
      stream = { controller, told: 0, dueAt: Number.POSITIVE_INFINITY }
      open.add(stream)
      max = Math.max(max, open.size)
      controller.enqueue(frame({ role: 'assistant', content: '' }))
      if (open.size === streams) begin()
    },
    cancel() {
      open.delete(stream)
    },
  })
}

/** Spread over the first interval: clients do not talk in step. */
function begin(): void {
  const now = performance.now()
  for (const [index, stream] of [...open].entries()) stream.dueAt = now + (index / streams) * interval
  setInterval(tell, 4)
}

function tell(): void {
  const now = performance.now()
  for (const stream of open) {
    if (stream.dueAt > now) continue
    stream.dueAt += interval
    if (stream.told < chunks) stream.controller.enqueue(frame({ content: `${stream.told++} ` }))
    else end(stream)
  }
}

function end(stream: Stream): void {
  open.delete(stream)
  stream.controller.enqueue(`${frame({}, 'stop')}data: [DONE]\n\n`)
  stream.controller.close()
}

function frame(delta: object, finish_reason: string | null = null): string {
  return `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`
}
