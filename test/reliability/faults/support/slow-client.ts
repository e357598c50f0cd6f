import { connect, type Socket } from 'node:net'
import { firstKey } from '../../../support/app.ts'

/** A client that reads only on demand. */
export type SlowClient = {
  /** Resolves with that many bytes more, or with fewer where the other side has ended. */
  take(bytes: number): Promise<string>
  /** Takes all that comes until this is in it, and gives what came last. */
  until(part: string): Promise<string>
  leave(): void
}

/** Sends the body and takes nothing yet. */
export async function openSlowClient(url: string, path: string, body: object): Promise<SlowClient> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  await new Promise<void>((resolve, reject) => socket.on('connect', resolve).on('error', reject))
  const pieces = createPieces(socket)
  const text = JSON.stringify(body)
  const head = `host: localhost\r\nauthorization: Bearer ${firstKey}\r\ncontent-length: ${text.length}`
  socket.write(`POST ${path} HTTP/1.1\r\n${head}\r\n\r\n${text}`)
  let held = ''

  async function take(bytes: number): Promise<string> {
    while (held.length < bytes) {
      const piece = await pieces()
      if (piece === '') break
      held += piece
    }
    const taken = held.slice(0, bytes)
    held = held.slice(bytes)
    return taken
  }

  async function until(part: string): Promise<string> {
    while (!held.includes(part)) {
      const piece = await pieces()
      if (piece === '') throw new Error(`“${part}” never came: ${held}`)
      held = (held + piece).slice(-1000)
    }
    return held
  }

  return { take, until, leave: () => void socket.destroy() }
}

/** Returns what is received chunk by chunk, and pauses in between; empty at the end. */
function createPieces(socket: Socket): () => Promise<string> {
  let wake = (_piece: string) => {}
  let ended = false
  socket.pause()
  socket.on('error', () => {})
  socket.on('data', (piece: Buffer) => {
    socket.pause()
    wake(piece.toString('latin1'))
  })
  socket.on('close', () => {
    ended = true
    wake('')
  })
  return () =>
    new Promise((resolve) => {
      wake = resolve
      if (ended) resolve('')
      else socket.resume()
    })
}
