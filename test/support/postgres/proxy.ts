import { connect, createServer, type Socket } from 'node:net'

/** A proxy in front of a server, which breaks connections. */
export type Proxy = {
  /** The URL of a database, through the proxy. */
  through(url: string): string
  /** Breaks all connections at once. */
  cut(): void
  /** Breaks each of the next connections that sends a COMMIT, when the server has received it. */
  cutAfterCommit(times: number): void
  /** How many connections were broken after a COMMIT. */
  cutCommits(): number
  [Symbol.dispose](): void
}

/** Starts a proxy on loopback for the server on this port. */
export async function startProxy(serverPort: number): Promise<Proxy> {
  const sockets = new Set<Socket>()
  let [toCut, cutCommits] = [0, 0]

  function accept(client: Socket): void {
    const server = connect(serverPort, '127.0.0.1')
    for (const socket of [client, server]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        // The server gets what was sent to it before the connection is closed.
        client.destroy()
        server.end()
      })
    }
    client.on('data', (data) => {
      server.write(data)
      if (toCut === 0 || !data.includes('COMMIT')) return
      toCut--
      cutCommits++
      client.destroy()
    })
    server.on('data', (data) => void (client.destroyed || client.write(data)))
  }

  const listener = createServer(accept)
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const address = listener.address()
  const port = address && typeof address === 'object' ? address.port : 0
  const cut = () => sockets.forEach((socket) => socket.destroy())
  return {
    through: (url) => url.replace(`:${serverPort}/`, `:${port}/`),
    cut,
    cutAfterCommit: (times) => void (toCut = times),
    cutCommits: () => cutCommits,
    [Symbol.dispose]() {
      listener.close()
      cut()
    },
  }
}
