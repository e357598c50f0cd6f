import type { Socket } from 'node:net'

/** How the scripted provider replies to one request. */
export type Script = {
  /** Resolves with true if the provider closed the connection, false if the gateway has to close it. */
  play(socket: Socket, closed: Promise<void>): Promise<boolean>
}

/** Bytes of the body, or a promise that is awaited before the next ones. */
export type Piece = string | Uint8Array | Promise<unknown>

type Head = { readonly status?: number; readonly headers?: Readonly<Record<string, string>> }

/** A complete JSON reply; a string is the raw body. */
export function json(body: unknown, head: Head = {}): Script {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return sent(head, { 'content-type': 'application/json' }, [text], finish)
}

/** An event stream of these pieces, ended by `end`. */
export function events(pieces: readonly Piece[], end: End = finish): Script {
  return sent({}, { 'content-type': 'text/event-stream' }, pieces, end)
}

/** A JSON reply in pieces, ended by `end`: for a reply that breaks off. */
export function jsonPieces(pieces: readonly Piece[], end: End = finish): Script {
  return sent({}, { 'content-type': 'application/json' }, pieces, end)
}

/** Accepts the request and never replies. */
export const silence: Script = {
  play: async () => false,
}

/** Accepts the request and resets the connection. */
export const reset: Script = {
  async play(socket) {
    socket.destroy()
    return true
  },
}

/** What follows the body; returns true where it ends the connection. */
export type End = (socket: Socket) => boolean

/** Ends the body properly. */
export const finish: End = (socket) => {
  socket.end('0\r\n\r\n')
  return true
}

/** What `fetch` has received of a body and not delivered yet is lost when the connection breaks. */
const deliveryMs = 100

/** Breaks the connection in the middle of the body, once what was sent is delivered. */
export const breakOff: End = (socket) => {
  setTimeout(() => socket.destroy(), deliveryMs)
  return true
}

/** The same so late that even a busy gateway has read the begin of the response: before, it would call the route again. */
export const breakOffLate: End = (socket) => {
  setTimeout(() => socket.destroy(), 4 * deliveryMs)
  return true
}

/** Sends nothing more and keeps the connection open. */
export const hang: End = () => false

/** Splits the bytes at these offsets. */
export function cutAt(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const ends = [...places, bytes.length]
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))
}

function sent(
  { status = 200, headers = {} }: Head,
  common: Readonly<Record<string, string>>,
  pieces: readonly Piece[],
  end: End,
): Script {
  const head = { ...common, 'transfer-encoding': 'chunked', connection: 'close', ...headers }
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`)
  return {
    async play(socket, closed) {
      socket.setNoDelay(true)
      socket.write(`HTTP/1.1 ${status} Scripted\r\n${lines.join('')}\r\n`)
      for (const piece of pieces) {
        if (piece instanceof Promise) await Promise.race([piece, closed])
        else if (piece.length > 0) await write(socket, Buffer.from(piece))
      }
      return end(socket)
    },
  }
}

/** One chunk of the transfer encoding. The turn of the event loop after it keeps the next chunk out of the same packet. */
async function write(socket: Socket, bytes: Buffer): Promise<void> {
  const size = `${bytes.length.toString(16)}\r\n`
  socket.write(Buffer.concat([Buffer.from(size), bytes, Buffer.from('\r\n')]))
  await new Promise((resolve) => setImmediate(resolve))
}
