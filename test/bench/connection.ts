/** A keep-alive connection that carries one request at a time, with as little overhead as possible. */
export type Connection = {
  /** Sends the bytes of a request and resolves with its reply; rejects when the connection ends first. */
  exchange(request: Uint8Array, onBytes?: BytesListener): Promise<Reply>
  close(): void
}

/** Opens a connection to the host of the URL. */
export async function openConnection(url: URL): Promise<Connection> {
  let unsent: Uint8Array | undefined
  const reader = createReplyReader()
  const tls = url.protocol === 'https:'
  const socket = await Bun.connect({
    hostname: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || (tls ? 443 : 80)),
    ...(tls && { tls: { serverName: url.hostname } }),
    socket: {
      binaryType: 'buffer',
      data: (_, bytes) => reader.push(bytes),
      drain: () => void send(unsent),
      close: () => reader.fail(new Error('The connection was closed before the response was complete.')),
      error: (_, error) => reader.fail(error),
    },
  })
  socket.setNoDelay(true)

  /** Keeps the bytes that the socket does not accept until it drains. */
  function send(bytes: Uint8Array | undefined): void {
    if (bytes === undefined) return
    const sent = Math.max(0, socket.write(bytes))
    unsent = sent < bytes.length ? bytes.subarray(sent) : undefined
  }

  return {
    exchange(request, onBytes) {
      const reply = reader.expect(onBytes)
      send(request)
      return reply
    },
    close: () => socket.terminate(),
  }
}

/** Returns the bytes of an HTTP/1.1 request. */
export function requestBytes(
  url: URL,
  headers: Readonly<Record<string, string>>,
  body?: string,
): Uint8Array<ArrayBuffer> {
  const content = Buffer.from(body ?? '')
  const contentHeaders: Readonly<Record<string, string>> =
    body === undefined ? {} : { 'content-type': 'application/json', 'content-length': String(content.length) }
  const lines = Object.entries({ host: url.host, ...headers, ...contentHeaders }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  )
  const head = `${body === undefined ? 'GET' : 'POST'} ${url.pathname}${url.search} HTTP/1.1\r\n${lines.join('')}\r\n`
  return Buffer.concat([Buffer.from(head), content])
}

/** The response to one request; times are those of `performance.now()`. */
export type Reply = {
  readonly status: number
  readonly startedAt: number
  /** When the first content arrived; comments of an event stream are not content. */
  readonly firstAt: number
  readonly endedAt: number
  /** The last bytes of the body. */
  readonly ending: string
}

type PendingReply = {
  readonly onBytes: BytesListener | undefined
  readonly startedAt: number
  resolve(reply: Reply): void
  reject(error: Error): void
}

/** Reads the replies of one connection, one at a time. */
export function createReplyReader() {
  let pending: PendingReply | undefined
  let head: Buffer = Buffer.alloc(0)
  let body: ReplyBody | undefined
  let failure: Error | undefined

  function expect(onBytes?: BytesListener): Promise<Reply> {
    if (failure !== undefined) return Promise.reject(failure)
    const { promise, resolve, reject } = Promise.withResolvers<Reply>()
    pending = { onBytes, startedAt: performance.now(), resolve, reject }
    return promise
  }

  function push(bytes: Buffer): void {
    if (pending === undefined) return
    if (body !== undefined) return addToBody(pending, body, bytes)
    head = Buffer.concat([head, bytes])
    const end = head.indexOf('\r\n\r\n')
    if (end < 0) return
    body = createReplyBody(parseHead(head.toString('latin1', 0, end + 2)), pending.onBytes)
    addToBody(pending, body, head.subarray(end + 4))
  }

  function addToBody({ startedAt, resolve }: PendingReply, body: ReplyBody, bytes: Buffer): void {
    const end = body.add(bytes)
    if (end === undefined) return
    reset()
    resolve({ startedAt, ...end })
  }

  function reset(): void {
    pending = body = undefined
    head = Buffer.alloc(0)
  }

  function fail(error: Error): void {
    const failed = pending
    reset()
    failure ??= error
    failed?.reject(error)
  }

  return { expect, push, fail }
}

/** Receives the bytes of a body as they arrive, with the framing of the transfer. */
type BytesListener = (bytes: Buffer, at: number) => void

/** The head of a response; without a length the body is chunked. */
type Head = {
  readonly status: number
  readonly length: number | undefined
  readonly streamed: boolean
}

/** Parses the status line and the headers. */
function parseHead(text: string): Head {
  const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1]
  return {
    status: Number(text.slice(9, 12)),
    length: length === undefined ? undefined : Number(length),
    streamed: /\r\ncontent-type: *text\/event-stream/i.test(text),
  }
}

type ReplyBody = ReturnType<typeof createReplyBody>

/** In bytes: large enough for the last event of a stream. */
const endingLength = 512
const lastChunk = '0\r\n\r\n'

/** Collects a body; the call of `add` that completes it returns its timing and its last bytes. */
function createReplyBody({ status, length, streamed }: Head, onBytes: BytesListener | undefined) {
  let received = 0
  let firstAt: number | undefined
  let ending: Buffer = Buffer.alloc(0)

  function add(bytes: Buffer) {
    const at = performance.now()
    received += bytes.length
    if (bytes.length > 0 && (!streamed || firstAt !== undefined || bytes.includes('data:'))) firstAt ??= at
    onBytes?.(bytes, at)
    ending = bytes.length >= endingLength ? bytes.subarray(-endingLength) : lastBytes(ending, bytes)
    if (!isComplete()) return undefined
    return { status, firstAt: firstAt ?? at, endedAt: at, ending: ending.toString() }
  }

  function isComplete(): boolean {
    if (length !== undefined) return received >= length
    return ending.toString('latin1', Math.max(0, ending.length - lastChunk.length)) === lastChunk
  }

  return { add }
}

function lastBytes(before: Buffer, bytes: Buffer): Buffer {
  return Buffer.concat([before, bytes]).subarray(-endingLength)
}
