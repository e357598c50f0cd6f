import { createReplyReader, type Reply } from './reply.ts'
import type { Listener } from './reply-body.ts'

/** A connection that carries one request after the other, with as little work around them as there can be. */
export type Connection = {
  /** Sends the bytes of a request and resolves with its reply; rejects where the connection ends before that. */
  exchange(request: Uint8Array, listen?: Listener): Promise<Reply>
  close(): void
}

/** Opens a connection to the host of the address. */
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
      data: (_, piece) => reader.push(piece),
      drain: () => void send(unsent),
      close: () => reader.fail(new Error('The connection was closed before the reply was whole.')),
      error: (_, error) => reader.fail(error),
    },
  })
  socket.setNoDelay(true)

  /** What the socket does not take goes out when it has room. */
  function send(bytes: Uint8Array | undefined): void {
    if (bytes === undefined) return
    const sent = Math.max(0, socket.write(bytes))
    unsent = sent < bytes.length ? bytes.subarray(sent) : undefined
  }

  return {
    exchange(request, listen) {
      const reply = reader.expect(listen)
      send(request)
      return reply
    },
    close: () => socket.terminate(),
  }
}

/** A request as it goes over the wire. */
export function requestBytes(
  url: URL,
  headers: Readonly<Record<string, string>>,
  body?: string,
): Uint8Array<ArrayBuffer> {
  const content = Buffer.from(body ?? '')
  const about: Readonly<Record<string, string>> =
    body === undefined ? {} : { 'content-type': 'application/json', 'content-length': String(content.length) }
  const lines = Object.entries({ host: url.host, ...headers, ...about }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  )
  const head = `${body === undefined ? 'GET' : 'POST'} ${url.pathname}${url.search} HTTP/1.1\r\n${lines.join('')}\r\n`
  return Buffer.concat([Buffer.from(head), content])
}
