import type { Socket } from 'bun'
import { createPacer, type PacedChunks } from './pacer.ts'

/** The bytes of a response: the first of them at once, the others at intervals. */
export type ScriptedReply = { readonly first: Uint8Array; readonly paced?: PacedChunks }

/** A scripted provider on loopback that sends prepared bytes. */
export type Upstream = { readonly url: string; stop(): void }

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
