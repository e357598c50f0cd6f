import { createReplyReader, type BytesListener, type Reply } from './reply.ts'

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
