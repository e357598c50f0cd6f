import type { Socket } from 'bun'

/** The bytes of a response: the first of them at once, the others at intervals. */
export type ScriptedReply = { readonly first: Uint8Array; readonly paced?: PacedChunks }

/** A scripted provider on loopback that sends prepared bytes. */
type Upstream = { readonly url: string; stop(): void }

/** Starts a scripted provider; `replyTo` picks a reply by the head of a request and the beginning of its body. */
export function startUpstream(replyTo: (head: string, body: string) => ScriptedReply): Upstream {
  const pacer = createPacer()
  const server = Bun.listen<RequestReader>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      binaryType: 'buffer',
      open(socket) {
        socket.setNoDelay(true)
        socket.data = createRequestReader((head, body) => reply(socket, replyTo(head, body)))
      },
      data: (socket, bytes) => socket.data.push(bytes),
      close: (socket) => pacer.leave(socket),
      error() {},
    },
  })

  function reply(socket: Socket<RequestReader>, { first, paced }: ScriptedReply): void {
    socket.write(first)
    if (paced) pacer.join(socket, paced)
  }

  function stop(): void {
    pacer.stop()
    server.stop(true)
  }

  return { url: `http://127.0.0.1:${server.port}`, stop }
}

/** Splits the bytes of a connection into requests. */
type RequestReader = { push(bytes: Buffer): void }

/** Calls `onRequest` for every complete request; pipelining is not supported. */
function createRequestReader(onRequest: (head: string, body: string) => void): RequestReader {
  let buffers: Buffer[] = []
  let head: string | undefined
  /** Bytes of the body that are still to come; undefined for a chunked body. */
  let missing: number | undefined

  function push(bytes: Buffer): void {
    buffers.push(bytes)
    if (head === undefined) readHead()
    else if (missing !== undefined) missing -= bytes.length
    if (head !== undefined && isComplete()) finish(head)
  }

  function readHead(): void {
    const bytes = Buffer.concat(buffers)
    const end = bytes.indexOf('\r\n\r\n')
    buffers = [bytes]
    if (end < 0) return
    head = bytes.toString('latin1', 0, end + 2)
    buffers = [bytes.subarray(end + 4)]
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
    const chunked = /\r\ntransfer-encoding: *chunked/i.test(head)
    missing = chunked ? undefined : Number(length ?? 0) - (bytes.length - end - 4)
  }

  function isComplete(): boolean {
    return missing === undefined ? Buffer.concat(buffers.slice(-2)).includes('0\r\n\r\n') : missing <= 0
  }

  function finish(text: string): void {
    // The beginning is enough to pick a reply.
    const body = buffers[0]?.toString('latin1', 0, 200) ?? ''
    buffers = []
    head = undefined
    onRequest(text, body)
  }

  return { push }
}

/** The chunks of a stream that are sent at intervals. */
type PacedChunks = {
  readonly chunks: readonly Uint8Array[]
  readonly intervalMs: number
  /** How many streams must be open before the first one starts. */
  readonly minOpenStreams: number
}

type PacedStream = { readonly paced: PacedChunks; sent: number; dueAt: number }

const tickMs = 4
/** After this time the open streams start, even if there are too few. */
const maxWaitMs = 20_000

/** Sends the chunks of many streams, each at its own interval and with a random offset. */
function createPacer() {
  const open = new Map<Socket<unknown>, PacedStream>()
  const timer = setInterval(tick, tickMs)
  let started = false
  let startsAt = 0

  function join(socket: Socket<unknown>, paced: PacedChunks): void {
    if (open.size === 0) {
      started = false
      startsAt = performance.now() + maxWaitMs
    }
    open.set(socket, { paced, sent: 0, dueAt: performance.now() + Math.random() * paced.intervalMs })
    if (!started && open.size >= paced.minOpenStreams) start()
  }

  function start(): void {
    started = true
    const now = performance.now()
    for (const stream of open.values()) stream.dueAt = now + Math.random() * stream.paced.intervalMs
  }

  function tick(): void {
    const now = performance.now()
    if (!started && open.size > 0 && now > startsAt) start()
    if (!started) return
    for (const [socket, stream] of open) if (stream.dueAt <= now) sendNext(socket, stream)
  }

  function sendNext(socket: Socket<unknown>, stream: PacedStream): void {
    const { chunks, intervalMs } = stream.paced
    const chunk = chunks[stream.sent++]
    stream.dueAt += intervalMs
    if (stream.sent >= chunks.length) open.delete(socket)
    if (chunk) socket.write(chunk)
  }

  return {
    join,
    leave: (socket: Socket<unknown>) => void open.delete(socket),
    stop: () => clearInterval(timer),
  }
}

/** Returns the bytes of an HTTP response with a JSON body. */
export function jsonReply(body: unknown): Uint8Array {
  const text = JSON.stringify(body)
  const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n`
  return Buffer.from(head + text)
}

/** Returns the bytes of an event stream, frame by frame; the first has the head of the response, the last ends it. */
export function streamReply(frames: readonly string[]): Uint8Array[] {
  const head =
    'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n'
  return frames.map((frame, index) => {
    const chunk = `${Buffer.byteLength(frame).toString(16)}\r\n${frame}\r\n`
    return Buffer.from((index === 0 ? head : '') + chunk + (index === frames.length - 1 ? '0\r\n\r\n' : ''))
  })
}

const completionFields = {
  id: 'chatcmpl-9Xk2mQ7vTz',
  created: 1_790_000_000,
  model: 'river-1',
  system_fingerprint: 'fp_44709d6fcb',
}
const usage = { prompt_tokens: 48, completion_tokens: 101, total_tokens: 149 }

/** Returns a chat completion as a provider sends it without streaming. */
export function chatCompletion(): object {
  const content = 'The river rose four centimetres during the night. '.repeat(6)
  const choice = {
    index: 0,
    message: { role: 'assistant', content, refusal: null },
    logprobs: null,
    finish_reason: 'stop',
  }
  return { ...completionFields, object: 'chat.completion', choices: [choice], usage }
}

/** Returns a chat completion as event frames with this many content chunks. */
export function chatFrames(contentChunks: number): string[] {
  const deltas = Array.from({ length: contentChunks }, (_, index) => chatFrame({ content: ` w${index}` }))
  const usageFrame = `data: ${JSON.stringify({ ...chunkFields, choices: [], usage })}\n\n`
  const [first = '', ...rest] = deltas
  return [
    chatFrame({ role: 'assistant', content: '' }) + first,
    ...rest,
    `${chatFrame({}, 'stop')}${usageFrame}data: [DONE]\n\n`,
  ]
}

const chunkFields = { ...completionFields, object: 'chat.completion.chunk' }

/** Returns the event frame of one chunk. */
export function chatFrame(delta: object, finish_reason: string | null = null): string {
  const choice = { index: 0, delta, logprobs: null, finish_reason }
  return `data: ${JSON.stringify({ ...chunkFields, choices: [choice] })}\n\n`
}
