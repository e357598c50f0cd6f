import type { Socket } from 'node:net'

/** How an upstream answers one request. */
export type Script = {
  /** Resolves with true where this side ended the connection, false where it leaves that to the other. */
  play(socket: Socket, closed: Promise<void>): Promise<boolean>
}

/** Bytes of the body, or something to wait for before the next ones. */
export type Piece = string | Uint8Array | Promise<unknown>

type Head = { readonly status?: number; readonly headers?: Readonly<Record<string, string>> }

/** A whole answer in JSON; a string is the body as it is. */
export function json(body: unknown, head: Head = {}): Script {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return sent(head, { 'content-type': 'application/json' }, [text], finish)
}

/** A streamed answer. `end` is what comes after the pieces. */
export function events(pieces: readonly Piece[], end: End = finish): Script {
  return sent({}, { 'content-type': 'text/event-stream' }, pieces, end)
}

/** The pieces of a JSON answer and then its end: for an answer that breaks off. */
export function jsonPieces(pieces: readonly Piece[], end: End = finish): Script {
  return sent({}, { 'content-type': 'application/json' }, pieces, end)
}

/** Takes the request, and nothing more ever comes. */
export const silence: Script = {
  play: async () => false,
}

/** Takes the request and breaks the connection. */
export const reset: Script = {
  play: async (socket) => breakOff(socket),
}

/** What comes after the body; true where that ends the connection. */
export type End = (socket: Socket) => boolean

/** The body is whole. */
export const finish: End = (socket) => {
  socket.end('0\r\n\r\n')
  return true
}

/** The connection breaks in the middle of the body. */
export const breakOff: End = (socket) => {
  socket.destroy()
  return true
}

/** Nothing more comes, and the connection stays. */
export const hang: End = () => false

/** The same frames cut elsewhere: pieces that end at these places of the bytes. */
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

/** One chunk of the transfer encoding. The turn of the loop after it keeps the next one out of the same packet. */
async function write(socket: Socket, bytes: Buffer): Promise<void> {
  const size = `${bytes.length.toString(16)}\r\n`
  socket.write(Buffer.concat([Buffer.from(size), bytes, Buffer.from('\r\n')]))
  await new Promise((resolve) => setImmediate(resolve))
}
