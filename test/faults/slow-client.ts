import { connect, type Socket } from 'node:net'
import { firstKey } from '../support/app.ts'

/** A client that takes what comes only when it is told to. */
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
  socket.on('error', () => {})
  await new Promise<void>((resolve, reject) => socket.on('connect', resolve).on('error', reject))
  socket.pause()
  const text = JSON.stringify(body)
  const head = `host: localhost\r\nauthorization: Bearer ${firstKey}\r\ncontent-length: ${text.length}`
  socket.write(`POST ${path} HTTP/1.1\r\n${head}\r\n\r\n${text}`)
  return {
    take: (bytes) => take(socket, bytes),
    until: (part) => until(socket, part),
    leave: () => void socket.destroy(),
  }
}

async function take(socket: Socket, bytes?: number): Promise<string> {
  for (;;) {
    const taken: Buffer | null = socket.read(bytes)
    if (taken) return taken.toString('latin1')
    if (socket.readableEnded || socket.destroyed) return ''
    await new Promise<void>((resolve) => socket.once('readable', resolve).once('close', resolve))
  }
}

async function until(socket: Socket, part: string): Promise<string> {
  let last = ''
  while (!last.includes(part)) {
    const taken = await take(socket)
    if (taken === '') throw new Error(`“${part}” never came: ${last}`)
    last = (last + taken).slice(-1000)
  }
  return last
}
