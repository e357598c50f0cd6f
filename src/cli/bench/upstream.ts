import type { Socket } from 'bun'
import { createPacer, type PacedAnswer } from './pacer.ts'
import { createRequestReader, type RequestReader } from './request.ts'

/** The bytes of an answer: all at once, or the rest of them at a pace. */
export type Answer = { readonly first: Uint8Array; readonly paced?: PacedAnswer }

/** A provider on loopback that does nothing but to send bytes that are made already. */
export type Upstream = { readonly url: string; stop(): void }

/** Answers every request by its head: the request line and the headers. */
export function startUpstream(answerTo: (head: string, body: string) => Answer): Upstream {
  const pacer = createPacer()
  const server = Bun.listen<RequestReader>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      binaryType: 'buffer',
      open(socket) {
        socket.setNoDelay(true)
        socket.data = createRequestReader((head, body) => reply(socket, answerTo(head, body)))
      },
      data: (socket, piece) => socket.data.push(piece),
      close: (socket) => pacer.leave(socket),
      error() {},
    },
  })

  function reply(socket: Socket<RequestReader>, { first, paced }: Answer): void {
    socket.write(first)
    if (paced) pacer.join(socket, paced)
  }

  function stop(): void {
    pacer.stop()
    server.stop(true)
  }

  return { url: `http://127.0.0.1:${server.port}`, stop }
}
