import type { Socket, TCPSocketListener } from 'bun'

/** A relay of TCP connections to a gateway, which a test can cut as a failing network does. */
export type Relay = {
  readonly url: string
  /** Closes every connection, and each new one until it is mended. */
  cut(): void
  mend(): void
  [Symbol.asyncDispose](): Promise<void>
}

type Peer = { peer?: Socket<Peer>; readonly waiting: Buffer[] }

/** Starts a relay on a port of its own. */
export async function startRelay(target: string): Promise<Relay> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket<Peer>>()
  let isCut = false
  const handlers = {
    data(socket: Socket<Peer>, chunk: Buffer) {
      const { peer, waiting } = socket.data
      if (peer) peer.write(chunk)
      else waiting.push(Buffer.from(chunk))
    },
    close(socket: Socket<Peer>) {
      sockets.delete(socket)
      socket.data.peer?.end()
    },
  }
  const server: TCPSocketListener<Peer> = Bun.listen<Peer>({
    hostname,
    port: 0,
    socket: {
      ...handlers,
      async open(socket) {
        socket.data = { waiting: [] }
        if (isCut) return void socket.terminate()
        sockets.add(socket)
        const data: Peer = { peer: socket, waiting: [] }
        const upstream = await Bun.connect<Peer>({ hostname, port: Number(port), data, socket: handlers })
        socket.data.peer = upstream
        for (const chunk of socket.data.waiting) upstream.write(chunk)
      },
    },
  })
  const cut = () => {
    isCut = true
    for (const socket of sockets) socket.terminate()
  }
  return {
    url: `http://${hostname}:${server.port}`,
    cut,
    mend: () => void (isCut = false),
    async [Symbol.asyncDispose]() {
      cut()
      server.stop(true)
    },
  }
}
