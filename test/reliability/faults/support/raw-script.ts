import type { Socket } from 'node:net'
import type { End, Piece, Script } from '../../../support/script.ts'

/** Raw bytes; any HTTP is part of them. */
export function raw(pieces: readonly Piece[], end: End = close): Script {
  return {
    async play(socket, closed) {
      socket.setNoDelay(true)
      for (const piece of pieces) {
        if (piece instanceof Promise) await Promise.race([piece, closed])
        else socket.write(piece)
        await new Promise((resolve) => setImmediate(resolve))
      }
      return end(socket)
    },
  }
}

/** What was written is sent, and then the connection ends. */
export const close: End = (socket) => {
  socket.end()
  return true
}

/** The connection ends with a reset, as one to a machine that has gone. */
export const abort: End = (socket) => {
  socket.resetAndDestroy()
  return true
}

/** A status line, headers and an empty line. */
export function head(status: number, headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} Scripted\r\n${lines.join('')}\r\n`
}

/** A whole reply of a known length. */
export function reply(status: number, type: string, body: string | Uint8Array, more: object = {}): Script {
  const bytes = Buffer.from(body)
  const headers = {
    'content-type': type,
    'content-length': String(bytes.length),
    connection: 'close',
    ...more,
  }
  return raw([head(status, headers), bytes])
}

/** A reply whose body repeats this chunk for as long as it is read. */
export function endless(first: string, piece: string, headers: object = {}, status = 200): Script {
  return {
    async play(socket) {
      socket.write(head(status, { connection: 'close', ...headers }))
      socket.write(first)
      await flood(socket, Buffer.from(piece))
      return false
    },
  }
}

/** As fast as the other side takes it, until it closes the connection. */
async function flood(socket: Socket, piece: Buffer): Promise<void> {
  while (!socket.destroyed) {
    if (socket.write(piece)) await new Promise((resolve) => setImmediate(resolve))
    else await drained(socket)
  }
}

function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      socket.off('drain', wake)
      socket.off('close', wake)
      resolve()
    }
    socket.on('drain', wake)
    socket.on('close', wake)
  })
}
